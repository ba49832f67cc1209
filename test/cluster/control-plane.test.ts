// The control plane of the cluster tests itself: users, audit log, crashes and pauses, and that nothing outlives its test.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { createWire, type Wire } from '../conformance/wire.ts';
import '../../tools/control-plane/global-setup.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';

const plane = await startControlPlane({
  auditLog: true,
  users: [{ name: 'system:viewer', groups: ['viewers'] }, { name: 'nobody' }],
  enableAdmission: ['OwnerReferencesPermissionEnforcement'],
});
afterAll(() => plane.stop());

async function wireOf(user?: string): Promise<Wire> {
  const { server, ca, token } = plane.connection(user);
  return createWire({ url: server.origin, ca, token: await token() });
}

/** Says whether the path exists, or any process names it on its command line. */
async function isLeft(folder: string): Promise<boolean> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'args'], { maxBuffer: 16 * 1024 * 1024 });
  const there = access(folder).then(
    () => true,
    () => false,
  );
  return stdout.includes(folder) || (await there);
}

describe('users', () => {
  it('a user has what RBAC gives to it or its groups, and nothing else', async () => {
    const admin = await wireOf();
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const apiGroup = 'rbac.authorization.k8s.io';
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }];
    await admin.post(`${rbac}/clusterroles`, { metadata: { name: 'viewers' }, rules });
    await admin.post(`${rbac}/clusterrolebindings`, {
      metadata: { name: 'viewers' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'viewers' },
      subjects: [{ apiGroup, kind: 'Group', name: 'viewers' }],
    });
    const [viewer, nobody] = [await wireOf('system:viewer'), await wireOf('nobody')];
    await expect.poll(async () => (await viewer.get('/api/v1/configmaps')).status).toBe(200);
    expect((await viewer.get('/api/v1/secrets')).status).toBe(403);
    expect((await nobody.get('/api/v1/configmaps')).status).toBe(403);
    await expect(plane.connection('stranger').token()).rejects.toThrow('stranger');
  });

  it('the audit log says who did what', async () => {
    const viewer = await wireOf('system:viewer');
    await viewer.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'not-allowed' } });
    // The log is written after the answer, so a test that has the answer may still have to wait for the line.
    await expect
      .poll(() => plane.auditEvents())
      .toContainEqual(
        expect.objectContaining({
          verb: 'create',
          user: expect.objectContaining({ username: 'system:viewer' }),
          objectRef: expect.objectContaining({ resource: 'configmaps', namespace: 'default' }),
          responseStatus: expect.objectContaining({ code: 403 }),
        }),
      );
    const admin = await wireOf();
    await admin.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'allowed' } });
    await expect
      .poll(() => plane.auditEvents())
      .toContainEqual(
        expect.objectContaining({
          user: expect.objectContaining({ username: 'admin' }),
          objectRef: expect.objectContaining({ resource: 'configmaps' }),
          requestObject: expect.objectContaining({ metadata: expect.objectContaining({ name: 'allowed' }) }),
        }),
      );
  });
});

describe('trouble', () => {
  it('a restarted API server has the same address, certificate and data', async () => {
    const admin = await wireOf();
    const made = await admin.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'kept' } });
    await plane.kill9ApiServer();
    await expect(admin.get('/readyz')).rejects.toThrow('ECONNREFUSED');
    await plane.restartApiServer();
    expect((await admin.get('/api/v1/namespaces/default/configmaps/kept')).body).toEqual(made.body);
  });

  it('a paused API server says nothing until it is resumed', async () => {
    const admin = await wireOf();
    plane.pauseApiServer();
    let answered = false;
    const answer = admin.get('/readyz').then(() => {
      answered = true;
    });
    const other = inject('controlPlane');
    const running = createWire({ url: other.url, ca: other.ca, token: other.adminToken });
    for (let requests = 0; requests < 10; requests++) expect((await running.get('/readyz')).status).toBe(200);
    expect(answered).toBe(false);
    plane.resumeApiServer();
    await answer;
  });
});

describe('the end', () => {
  const program = `
    import { startControlPlane } from ${JSON.stringify(import.meta.resolve('../control-plane/start.ts'))};
    const plane = await startControlPlane({ controllerManager: true });
    console.log(plane.kubeconfig());`;
  it.each([
    ['is killed', 'process.kill(process.pid, "SIGKILL");'],
    ['exits', 'process.exit(0);'],
    ['throws', 'throw new Error("failed");'],
  ])('neither process nor file is left when the process that started it %s', async (_how, ending) => {
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program + ending]);
    const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
    const folder = dirname(output.trim());
    expect(folder).toContain('outrigger-plane-');
    await expect.poll(() => isLeft(folder), { timeout: 10_000, interval: 100 }).toBe(false);
  });

  it('neither process nor file is left after stop', async () => {
    const other = await startControlPlane();
    const folder = dirname(other.kubeconfig());
    expect(await isLeft(folder)).toBe(true);
    await other.stop();
    expect(await isLeft(folder)).toBe(false);
  });
});
