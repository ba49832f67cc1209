// Which trace a message belongs to, for X-Ray. SQS keeps it beside the message as a system attribute, which counts neither for a
// message's size nor for its ten attributes; Lambda links the trace of whoever is called with the message to it.
// The SDK names the sending invocation's trace in a header, for a whole request; what is sent on for many senders says each its own.
import type { MessageSystemAttributeNameForSends, MessageSystemAttributeValue } from '@aws-sdk/client-sqs';

/** What SQS takes as a trace header; a message with another one is refused as a whole. */
const wellFormed =
  /^(?:[A-Za-z]+=[\w.:|-]{1,200};){0,8}Root=1-[0-9a-f]{8}-[0-9a-f]{24}(?:;[A-Za-z]+=[\w.:|-]{1,200}){0,8}$/;

/** Makes the system attributes of a message: none without a trace, or with one that is not well-formed. */
export function traceAttributes(
  header: string | undefined,
): Partial<Record<MessageSystemAttributeNameForSends, MessageSystemAttributeValue>> | undefined {
  if (header === undefined || !wellFormed.test(header)) return undefined;
  return { AWSTraceHeader: { DataType: 'String', StringValue: header } };
}
