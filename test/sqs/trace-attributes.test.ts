// Only which headers may go beside a message; where they come from is test/lambda/traces.test.ts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { traceAttributes } from '../../src/queue/trace-header.ts';

const root = 'Root=1-5759e988-bd862e3fe1be46a994272793';

it.each([
  root,
  `${root};Parent=557abcec3ee5a047;Sampled=0`,
  `${root};Parent=557abcec3ee5a047;Sampled=1;Lineage=25:a87bd80c:1|68fd508a:5|c512fbe3:2`,
  `Self=1-67891234-12456789abcdef012345678a;${root}`,
])('%s goes beside a message as it is', (header) => {
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
])('%j stays behind, because SQS would refuse the message with it', (header) => {
  expect(traceAttributes(header)).toBeUndefined();
});

it('what is no trace header never goes beside a message', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 300 }), (text) => {
      expect(traceAttributes(text)).toBeUndefined();
      expect(traceAttributes(`${root};${text}\u0000`)).toBeUndefined();
    }),
  );
  expect(traceAttributes(undefined)).toBeUndefined();
});
