// Statements that catch no mutant, each with the reason why that is as it should be. One that is not here and catches none
// fails `npm run mutate`: either a mutant is missing, or the statement's test would not notice.

/** Statement → reason. */
export const uncaught: Readonly<Record<string, string>> = {};
