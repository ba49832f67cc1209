// Only the plant: how water moves, what commands do, and how it fails when told to. Over HTTP, with a clock of the test's.
import { afterEach, describe, expect, it } from 'vitest';
import { type Plant, startPlant } from '../../src/simulators/plant.ts';

let plant: Plant | undefined;
afterEach(async () => await plant?.close());

async function start(): Promise<{ plant: Plant; pass(seconds: number): void }> {
  let now = 0;
  const pass = (seconds: number) => {
    now += seconds * 1000;
  };
  plant = await startPlant({ levelPerSecond: 2, nowMilliseconds: () => now });
  return { plant, pass };
}
async function call(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${plant?.url}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json().catch(() => undefined) };
}
const level = async (id = 'a') => (await call('GET', `/tanks/${id}/level`)).body;

describe('the plant', () => {
  it('begins with an empty tank and closed valves, whatever the id', async () => {
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

  it('moves water only while exactly one valve is open, and never below empty', async () => {
    const { pass } = await start();
    await call('PUT', '/tanks/a/inlet', { open: true });
    pass(5);
    expect(await level()).toEqual({ level: 10 });
    await call('PUT', '/tanks/a/outlet', { open: true });
    pass(5);
    expect(await level()).toEqual({ level: 10 });
    await call('PUT', '/tanks/a/inlet', { open: false });
    pass(100);
    expect(await level()).toEqual({ level: 0 });
  });

  it('takes a command twice as once, and counts both', async () => {
    const { plant, pass } = await start();
    await call('PUT', '/tanks/a/inlet', { open: true });
    pass(1);
    await call('PUT', '/tanks/a/inlet', { open: true });
    pass(1);
    expect(plant.tank('a')).toMatchObject({ level: 4, commands: 2 });
  });

  it('lets somebody take water', async () => {
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
  ])('refuses %s %s %j with a reason', async (method, path, body, status) => {
    await start();
    expect(await call(method, path, body)).toMatchObject({ status, body: { error: expect.stringMatching(/./) } });
  });

  it('breaks one tank and not the others, until it is healed', async () => {
    await start();
    await call('PUT', '/faults', { a: 'sensor-error' });
    expect((await call('GET', '/tanks/a/level')).status).toBe(500);
    expect((await call('GET', '/tanks/b/level')).status).toBe(200);
    await call('PUT', '/faults', {});
    expect((await call('GET', '/tanks/a/level')).status).toBe(200);
  });

  it('fails as told: text, out of range, silence, a cut connection, a stuck valve', async () => {
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
});
