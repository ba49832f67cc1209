// What Lambda passes to the functions, and what they return: the fields that are used.
//
// Sources: AWS Lambda developer guide, "Using Lambda with Amazon SQS", "Using the Lambda context object".

/** One message of a batch. */
export type SqsRecord = {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: {
    readonly ApproximateReceiveCount: string;
    readonly ApproximateFirstReceiveTimestamp: string;
    readonly SenderId: string;
    readonly MessageGroupId?: string | undefined;
    readonly AWSTraceHeader?: string | undefined;
  };
  readonly messageAttributes: Readonly<Record<string, { readonly stringValue?: string }>>;
};

/** A batch of an event source mapping. */
export type SqsEvent = { readonly Records: readonly SqsRecord[] };

/** Names the messages that stay on the queue (ReportBatchItemFailures). */
export type SqsBatchResponse = { readonly batchItemFailures: readonly { readonly itemIdentifier: string }[] };

/** The invocation: its id, and the time that is left of it. */
export type InvocationContext = { readonly awsRequestId: string; getRemainingTimeInMillis(): number };
