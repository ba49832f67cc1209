// Only which trace headers are sent with a message. Their origin is in test/lambda/traces.test.ts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { traceAttributes } from '../../src/sqs/send.ts';

const root = 'Root=1-5759e988-bd862e3fe1be46a994272793';

it.each([
  root,
  `${root};Parent=557abcec3ee5a047;Sampled=0`,
  `${root};Parent=557abcec3ee5a047;Sampled=1;Lineage=25:a87bd80c:1|68fd508a:5|c512fbe3:2`,
  `Self=1-67891234-12456789abcdef012345678a;${root}`,
])('the trace header %s is sent with a message unchanged', (header) => {
  expect(traceAttributes(header)).toEqual({ AWSTraceHeader: { DataType: 'String', StringValue: header } });
});

it.each([
  '',
  'Root=',
  'Root=1-5759e988',
  `${root};`,
  `${root};Parent`,
  `${root} ;Sampled=1`,
  `x${root}`,
  `${root}\n`,
])('the malformed trace header %j is not sent, because SQS would reject the message', (header) => {
  expect(traceAttributes(header)).toBeUndefined();
});

it('text that is not a trace header is never sent with a message', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 300 }), (text) => {
      expect(traceAttributes(text)).toBeUndefined();
      expect(traceAttributes(`${root};${text}\u0000`)).toBeUndefined();
    }),
  );
  expect(traceAttributes(undefined)).toBeUndefined();
});
