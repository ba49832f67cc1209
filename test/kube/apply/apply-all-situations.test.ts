// The situations of a child, as test cases for any API server: what others do to it, the requests of each reconcile,
// and how it ends. The requests are those of the algorithm in apply-child.ts; a second reconcile has none.
import { beforeAll, expect, it } from 'vitest';
import { useApiServer } from '../../harness/api-server.ts';
import { useNamespace } from '../namespace.ts';
import { customSituations, serveGizmos } from './situations/custom.ts';
import { otherOwnerSituations } from './situations/others.ts';
import { ownershipSituations } from './situations/ownership.ts';
import type { Situation } from './situations/situation.ts';
import { Stage } from './situations/stage.ts';
import { unionSituations } from './situations/unions.ts';

const { connect } = await useApiServer({ controllers: 'none' });
const fixture = useNamespace(connect);

const situations: readonly Situation[] = [
  ...ownershipSituations,
  ...unionSituations,
  ...customSituations,
  ...otherOwnerSituations,
];
beforeAll(() => serveGizmos(fixture.client));

it.each(situations)('$title ($requests)', async ({ kind, run, requests, of, end, ...options }) => {
  const stage = new Stage(fixture, kind, options);
  for (const step of run) await step(stage);
  expect({ requests: stage.reconciles.join('; '), end: of(await stage.read()) }).toEqual({ requests, end });
});
