// Only the estimated costs of rules on the real kube-apiserver, and that the hints name the fields to bound. Other hints:
// test/generate/rule-hints.test.ts.
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { withRule } from '../../src/api/rule.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { ruleHints } from '../../src/generate/crd/rule-hints.ts';
import { structuralSchema } from '../../src/generate/crd/schema.ts';
import { useClient } from '../harness/api-server.ts';

const client = await useClient();

/** Sends the CRD of a spec to the API server as a dry run. */
async function createDefinition(spec: z.ZodObject): Promise<void> {
  const names = { group: 'costs.example.net', version: 'v1', kind: 'Cost' };
  await client.request({
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    query: { dryRun: 'All' },
    body: crdOf(defineKind({ ...names, spec, status: z.object({}), conditions: [] })),
  });
}

const hintsOf = (spec: z.ZodObject) => ruleHints(structuralSchema(spec, 'spec'), 'spec');

/** A list of texts, each with a rule. */
function lines(text: z.ZodString, limit?: number): z.ZodObject {
  const line = withRule(z.object({ text }), { rule: "self.text.contains('a')", message: 'has an a' }, (value) =>
    value.text.includes('a'),
  );
  return z.object({ lines: limit === undefined ? z.array(line) : z.array(line).max(limit) });
}

describe('rules whose estimated cost is too high', () => {
  it('the API server rejects a rule that costs too much, and the hints name the fields to bound', async () => {
    const spec = lines(z.string());
    await expect(createDefinition(spec)).rejects.toThrow('cost');
    expect(hintsOf(spec)).toEqual([
      'spec.lines: a rule runs for each of it; bound it with .max()',
      'spec.lines[].text: a rule runs over it; bound it with .max()',
    ]);
  });

  it('the API server accepts the rule once the fields are bounded, and there are no hints', async () => {
    const spec = lines(z.string().max(100), 50);
    await createDefinition(spec);
    expect(hintsOf(spec)).toEqual([]);
  });
});
