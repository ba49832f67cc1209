// A record of an SQS event. src/lambda reads it; timers, resync and reconciling process it.

/** The fields of a record of an SQS event that are used. */
export type QueueRecord = {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly groupId: string | undefined;
  readonly receiveCount: number;
  /** ApproximateFirstReceiveTimestamp, in milliseconds by the clock of SQS. */
  readonly firstReceivedAt: number;
  /** SenderId: who sent the message, as SQS says. */
  readonly senderId?: string | undefined;
  /** The attribute `sender`, which only the timers function may write. */
  readonly stampedSender?: string | undefined;
  /** The attribute `unknownSince`, which only the timers function may write. */
  readonly unknownSince?: string | undefined;
  /** The trace in which the message was sent. */
  readonly traceHeader?: string | undefined;
};
