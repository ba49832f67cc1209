// What the simulation assumes about AWS. Quotas are those of AWS' documentation in 2026.

/** Quotas of one account in one region. */
export const quotas = {
  /**
   * Calls a second of each action on FIFO queues with high throughput (SQS, "Amazon SQS quotas"): us-east-1, us-west-2
   * and eu-west-1 have 70,000, Frankfurt and Ohio 19,000, the smallest regions 2,400. Each takes ten messages.
   */
  fifoCallsPerSecond: 70_000,
  /** Messages of one FIFO queue that are received and not deleted (SQS, "Amazon SQS quotas"). */
  fifoInFlight: 120_000,
  /** Concurrent executions of an account (Lambda, "Lambda quotas"). It is adjustable; new accounts have less. */
  accountConcurrency: 1_000,
  /** A function's concurrency rises by this many in ten seconds (Lambda, "Understanding Lambda function scaling"). */
  scalingPer10Seconds: 1_000,
} as const;

/** Times in milliseconds that were not measured on AWS. */
export const assumedMs = {
  /** A call to SQS, with the message stored in several zones. */
  sqsCall: 15,
  /** From a message on the queue to the start of the function, once its pollers are busy. */
  poll: 20,
} as const;

/** RATE_LIMIT_PER_SECOND and RATE_LIMIT_BURST of a watcher (src/settings.ts). */
export const rateLimit = { perSecond: 200, burst: 2_000 };
