// Only the plant: the level of the water, the commands, and the faults. Over HTTP, with the test's clock.

import { type PlantOptions, type PlantSimulator, startPlant } from '@outrigger/cli/simulators/plant';
import { afterEach, expect, it } from 'vitest';

let plant: PlantSimulator | undefined;
afterEach(async () => await plant?.close());

async function start(options: PlantOptions = {}): Promise<{ plant: PlantSimulator; advance(seconds: number): void }> {
  let now = 0;
  const advance = (seconds: number) => {
    now += seconds * 1000;
  };
  plant = await startPlant({ levelPerSecond: 2, nowMilliseconds: () => now, ...options });
  return { plant, advance };
}
async function call(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${plant?.url}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json().catch(() => undefined) };
}
const level = async (id = 'a') => (await call('GET', `/tanks/${id}/level`)).body;

it('a new tank of the plant is empty with closed valves, with any id', async () => {
  await start();
  expect((await call('GET', `/tanks/${encodeURIComponent('a/b.c')}`)).body).toEqual({
    id: 'a/b.c',
    level: 0,
    inlet: { open: false },
    outlet: { open: false },
    commands: 0,
    readings: 0,
  });
});

it('the level changes only while exactly one valve is open, and never falls below 0', async () => {
  const { advance } = await start();
  await call('PUT', '/tanks/a/inlet', { open: true });
  advance(5);
  expect(await level()).toEqual({ level: 10 });
  await call('PUT', '/tanks/a/outlet', { open: true });
  advance(5);
  expect(await level()).toEqual({ level: 10 });
  await call('PUT', '/tanks/a/inlet', { open: false });
  advance(100);
  expect(await level()).toEqual({ level: 0 });
});

it('a tank with an edge overflows, and what was poured in above it stays', async () => {
  const { plant, advance } = await start({ overflowsAt: 120 });
  await call('PUT', '/tanks/a/inlet', { open: true });
  advance(1000);
  expect(await level()).toEqual({ level: 120 });
  plant.disturb('a', 150);
  advance(1000);
  expect(await level()).toEqual({ level: 150 });
  await call('PUT', '/tanks/a/inlet', { open: false });
  await call('PUT', '/tanks/a/outlet', { open: true });
  advance(20);
  expect(await level()).toEqual({ level: 110 });
});

it('a repeated valve command has no further effect, and both are counted', async () => {
  const { plant, advance } = await start();
  await call('PUT', '/tanks/a/inlet', { open: true });
  advance(1);
  await call('PUT', '/tanks/a/inlet', { open: true });
  advance(1);
  expect(plant.tank('a')).toMatchObject({ level: 4, commands: 2 });
});

it('PUT on a level sets the level of the tank', async () => {
  await start();
  await call('PUT', '/tanks/a/level', { level: 7 });
  expect(await level()).toEqual({ level: 7 });
});

it.each([
  ['PUT', '/tanks/a/inlet', { open: 'yes' }, 400],
  ['PUT', '/tanks/a/inlet', {}, 400],
  ['PUT', '/tanks/a/level', { level: -1 }, 400],
  ['GET', '/ponds', undefined, 404],
  ['PUT', '/faults', { a: 'leak' }, 400],
])('the plant rejects %s %s %j with a reason', async (method, path, body, status) => {
  await start();
  expect(await call(method, path, body)).toMatchObject({ status, body: { error: expect.stringMatching(/./) } });
});

it('a fault of one tank does not affect other tanks and can be removed', async () => {
  await start();
  await call('PUT', '/faults', { a: 'sensor-error' });
  expect((await call('GET', '/tanks/a/level')).status).toBe(500);
  expect((await call('GET', '/tanks/b/level')).status).toBe(200);
  await call('PUT', '/faults', {});
  expect((await call('GET', '/tanks/a/level')).status).toBe(200);
});

it('the plant has faults: text, out of range, no response, a cut connection, a stuck valve', async () => {
  const { plant } = await start();
  plant.setFaults({ '*': 'sensor-text' });
  expect(await (await fetch(`${plant.url}/tanks/a/level`)).text()).toBe('wet');
  plant.setFaults({ '*': 'sensor-out-of-range' });
  expect(await level()).toEqual({ level: -1e6 });
  plant.setFaults({ '*': 'sensor-hang' });
  await expect(fetch(`${plant.url}/tanks/a/level`, { signal: AbortSignal.timeout(100) })).rejects.toThrow('timeout');
  plant.setFaults({ '*': 'down' });
  await expect(call('PUT', '/tanks/a/inlet', { open: true })).rejects.toThrow('fetch failed');
  plant.setFaults({ '*': 'valve-error' });
  expect((await call('PUT', '/tanks/a/inlet', { open: true })).status).toBe(500);
  expect(plant.tank('a').inlet.open).toBe(false);
});
