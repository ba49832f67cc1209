// Numbers of the two functions that every deployment has once. The template and the handlers read them here.

/** The most batches of timers at a time: 100 batches of ten forward thousands of due timers a second. */
export const timersBatches = 100;
/** The most lists of the resync at a time. */
export const resyncLists = 10;
/** The time limits, in seconds. The visibility timeout of a queue is six times as long. */
export const sharedTimeouts = { timers: 30, resync: 120 };
