// Both API servers, asked the same: the in-memory server refuses what kube-apiserver refuses in the kinds of
// `outrigger/kubernetes`, with the same status, reason and field paths, and accepts what it accepts. The requests are
// random. COMPARE_REQUESTS=20000 sends more of them, COMPARE_SEED=1 repeats a run.

import { startApiServer } from '@outrigger/apiserver';
import { afterAll, expect, inject, it } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { createWire } from '../conformance/wire.ts';
import { compareServers } from './comparison/compare.ts';

const memory = await startApiServer();
afterAll(() => memory.close());

const requests = Number(process.env.COMPARE_REQUESTS ?? 500);
const seed = Number(process.env.COMPARE_SEED ?? 1);

it(
  `K14: ${requests} random writes of seed ${seed} have the same answer from both servers`,
  {
    timeout: 60_000 + requests * 200,
  },
  async () => {
    const { url, ca, adminToken } = inject('bareControlPlane');
    const servers = { real: createWire({ url, ca, token: adminToken }), memory: createWire({ url: memory.url }) };
    expect(await compareServers(servers, { seed, requests })).toEqual([]);
  },
);
