// The situations of a child, as test cases for any API server: what others do to it, the requests of each reconcile, and
// how it ends. The requests are those of the algorithm in apply-child.ts; a second reconcile has none.
import { expect, inject, it } from 'vitest';
import { useApiServer } from '../../harness/api-server.ts';
import { useNamespace } from '../namespace.ts';
import { ownershipSituations } from './situations/ownership.ts';
import type { Situation } from './situations/situation.ts';
import { Stage } from './situations/stage.ts';
import { unionSituations } from './situations/unions.ts';

const { connect } = await useApiServer({ controllers: 'none' });
const fixture = useNamespace(connect);

const situations: readonly Situation[] = [...ownershipSituations, ...unionSituations];
const isReal = inject('apiServer') === 'real';

it.each(situations.filter(({ onlyReal = false }) => isReal || !onlyReal))('$title ($requests)', async ({
  kind,
  run,
  requests,
  of,
  end,
  ...options
}) => {
  const stage = new Stage(fixture, kind, options);
  for (const step of run) await step(stage);
  expect({ requests: stage.reconciles.join('; '), end: of(await stage.read()) }).toEqual({ requests, end });
});
