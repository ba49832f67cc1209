// The sources in memory of which pictures are taken. Everything in them is the same at each run, but for the time.
import { healthOf } from '@outrigger/cli/console/health';
import type { ConditionRow, ObjectState } from '@outrigger/cli/console/wire';
import { createFakeSource, rowOf } from './fake-source.ts';

type Source = ReturnType<typeof createFakeSource>;

/** 1,000 WaterTanks in seven namespaces. */
export function thousandTanks(): Source {
  const source = createFakeSource();
  for (let index = 0; index < 1_000; index += 1) {
    // Spread over the list, the same at each run.
    const spread = (index * 7_919) % 100;
    const state = spread < 82 ? 'Ready' : spread < 93 ? 'Progressing' : 'Failed';
    const level = 3 + (spread % 20);
    putTank(source, `local:watertanks.plant.example.com/region-${index % 7}/tank-${String(index).padStart(4, '0')}`, {
      state,
      text: state === 'Ready' ? 'Ready' : `BelowTarget: level ${level} of 30`,
      days: 1 + ((index * 31) % 90),
      isReachable: spread !== 99,
    });
  }
  return source;
}

type Tank = {
  readonly state: ObjectState;
  readonly text: string;
  readonly days: number;
  readonly isReachable: boolean;
};

function putTank(source: Source, id: string, { state, text, days, isReachable }: Tank): void {
  const status = (isTrue: boolean) => (isTrue ? 'True' : 'False');
  const condition = (type: string, isTrue: boolean): ConditionRow => ({
    type,
    status: status(isTrue),
    reason: 'Level',
    message: '',
    tone: isTrue ? 'good' : 'busy',
  });
  const [cluster = ''] = id.split(':');
  source.put(
    rowOf(id, {
      kind: 'WaterTank',
      cluster,
      state,
      text,
      conditions: [condition('AtLevel', state === 'Ready'), condition('SensorReachable', isReachable)],
      createdAt: new Date(Date.now() - days * 24 * 3_600_000).toISOString(),
    }),
  );
}

/** A stage with four clusters: one is paused, and one cannot be reached. */
export function stagePicture(): Source {
  const source = createFakeSource({ mode: 'stage', name: 'prod', command: 'outrigger console --stage prod' });
  const now = Date.now();
  const up = healthOf('working', 'last seen 4 s ago');
  const clusters = ['prod-eu', 'prod-us', 'edge-lisbon', 'lab'];
  for (let index = 0; index < 240; index += 1) {
    const cluster = clusters[index % clusters.length] ?? 'lab';
    const isReady = index % 13 !== 0;
    putTank(source, `${cluster}:watertanks.plant.example.com/default/tank-${String(index).padStart(3, '0')}`, {
      state: isReady ? 'Ready' : 'Progressing',
      text: isReady ? 'Ready' : 'BelowTarget: level 12 of 30',
      days: 1 + (index % 60),
      isReachable: true,
    });
  }
  const names = ['water-tank', 'ingredient', 'dinner', 'foo', 'memcached-proxy', 'bitcoin-network'];
  const kinds = ['WaterTank', 'Ingredient', 'Dinner', 'Foo', 'MemcachedProxy', 'BitcoinNetwork'];
  const rates = [14.2, 6.1, 2.4, 3.3, 1.2, 0.4];
  source.setFlow({
    at: now,
    changesPerSecond: 21.4,
    waitingTimers: 412,
    sharedDeadLetters: 0,
    p50Ms: 180,
    p99Ms: 1_900,
    clusters: [
      { name: 'prod-eu', health: up },
      { name: 'prod-us', health: up },
      { name: 'lab', paused: true, health: healthOf('paused', up.text) },
      {
        name: 'edge-lisbon',
        health: healthOf('unreachable', 'GET https://edge-lisbon.example.com/version: no response within 10 s'),
      },
    ],
    controllers: names.map((name, index) => ({
      name,
      kind: kinds[index] ?? '',
      queued: index === 0 ? 9 : 0,
      inFlight: index < 2 ? 3 - index : 0,
      deadLetters: index === 1 ? 2 : 0,
      reconcilesPerSecond: rates[index] ?? 0,
      failuresPerSecond: 0,
      p50Ms: 120 + index * 45,
      p99Ms: 900 + index * 310,
      health: healthOf(name === 'dinner' ? 'paused' : 'working'),
    })),
  });
  const at = Array.from({ length: 140 }, (_, index) => now / 1000 - (140 - index) * 2);
  const wave = (index: number, height: number) =>
    height * (1 + 0.22 * Math.sin(index / 9) + 0.07 * Math.sin(index / 2.3));
  source.setSeries({
    at,
    reconciles: at.map((_, index) => wave(index, 25)),
    failures: at.map((_, index) => (index > 60 && index < 74 ? 1.4 : 0.1)),
    p50: at.map((_, index) => wave(index, 180)),
    p99: at.map((_, index) => wave(index, index > 58 && index < 80 ? 3_900 : 1_700)),
  });
  for (let index = 0; index < 14; index += 1) {
    // Of the two clusters that are watched and not paused.
    const tank = Math.floor((index * 37) % 60) * 4 + (index % 2);
    const cluster = clusters[tank % clusters.length] ?? 'lab';
    const number = String(tank).padStart(3, '0');
    source.addEntry({
      id: `${cluster}:watertanks.plant.example.com/default/tank-${number}`,
      at: now - (14 - index) * 320,
      type: 'reconcile',
      controller: 'water-tank',
      cause: 'change',
      text: `ran because it changed: 1 write, took ${38 + index * 3} ms`,
    });
  }
  return source;
}
