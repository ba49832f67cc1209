// kubectl commands on custom resources, against any server. Built-in kinds: kubectl.test.ts.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKubectl, type Kubectl } from './kubectl.ts';
import { sampleDefinition, sampleObject, sampleResourceName } from './toy-kind.ts';

/** The kubectl and its kubeconfig. */
export type KubectlTarget = { readonly kubectlPath: string; readonly kubeconfig: string };

const stdin = ['-f', '-'] as const;

/** Declares the cases, which share one namespace; each uses an object of its own. */
export async function kubectlCases({ kubectlPath, kubeconfig }: KubectlTarget): Promise<void> {
  const namespace = `kubectl-${crypto.randomUUID().slice(0, 8)}`;
  const kubectl: Kubectl = await createKubectl(kubectlPath, kubeconfig, namespace);
  const { run, output, follow } = kubectl;
  const field = (name: string, path: string): Promise<string> =>
    output(['get', sampleResourceName, name, '-o', `jsonpath={${path}}`]);
  const create = (name: string, spec?: object, metadata?: object): Promise<string> =>
    output(['create', ...stdin], { manifest: sampleObject(name, spec, metadata) });

  beforeAll(async () => {
    await output(['create', 'namespace', namespace]);
    await output(['apply', ...stdin], { manifest: sampleDefinition });
    await output(['wait', '--for=condition=Established', `crd/${sampleResourceName}`, '--timeout=30s']);
  });
  afterAll(async () => {
    await output(['delete', 'crd', sampleResourceName]);
    await kubectl.close();
  });

  it('kubectl api-resources lists the kind with its short name', async () => {
    const rows = await output(['api-resources', '--api-group=kitchen.example.net', '--no-headers']);
    expect(rows.trim().split(/\s+/)).toEqual(['kettles', 'kt', 'kitchen.example.net/v1', 'true', 'Kettle']);
    expect(await output(['api-versions'])).toContain('kitchen.example.net/v1\n');
  });

  it('kubectl explain prints the descriptions of the schema', async () => {
    // A real server publishes the schema of a new kind some seconds after it serves the kind.
    const explain = async () => (await run(['explain', 'kettles'])).status;
    await expect.poll(explain, { timeout: 30_000, interval: 500 }).toBe(0);
    const kind = await output(['explain', 'kettles']);
    expect(kind).toContain('KIND:       Kettle');
    expect(kind).toContain('A kettle boils water for some cups.');
    const cups = await output(['explain', 'kettles.spec.cups']);
    expect(cups).toContain('FIELD: cups <integer>');
    expect(cups).toContain('How many cups to boil for.');
  });

  it('kubectl apply creates, then reports unchanged, then configures', async () => {
    const apply = (cups: number): Promise<string> =>
      output(['apply', ...stdin], { manifest: sampleObject('applied', { cups }) });
    expect(await apply(2)).toBe('kettle.kitchen.example.net/applied created\n');
    expect(await apply(2)).toBe('kettle.kitchen.example.net/applied unchanged\n');
    expect(await apply(3)).toBe('kettle.kitchen.example.net/applied configured\n');
    expect(await field('applied', '.spec.cups')).toBe('3');
  });

  it('kubectl apply removes a field that is no longer in the manifest', async () => {
    await output(['apply', ...stdin], {
      manifest: sampleObject('shrunk', { cups: 2, tea: 'green' }, { labels: { a: 'b' } }),
    });
    await output(['apply', ...stdin], { manifest: sampleObject('shrunk', { cups: 2 }) });
    expect(await field('shrunk', '.spec.tea')).toBe('black');
    expect(await field('shrunk', '.metadata.labels')).toBe('');
  });

  it('kubectl apply rejects an unknown field and an invalid value', async () => {
    const unknown = await run(['apply', ...stdin], { manifest: sampleObject('bad', { cups: 1, sugar: 2 }) });
    expect(unknown.status).toBe(1);
    expect(unknown.stderr).toContain('unknown field "spec.sugar"');
    const wrong = await run(['apply', ...stdin], { manifest: sampleObject('bad', { cups: 99, tea: 'red' }) });
    expect(wrong.stderr).toContain('The Kettle "bad" is invalid');
    expect(wrong.stderr).toContain(
      'spec.cups: Invalid value: 99: spec.cups in body should be less than or equal to 12',
    );
    expect(wrong.stderr).toContain('spec.tea: Unsupported value: "red": supported values: "green", "black"');
  });

  it.each([
    [['apply']],
    [['apply', '--server-side']],
    [['create']],
  ])('kubectl %s of a kind without a CRD says that nothing matches it', async (argv) => {
    const unknown = { apiVersion: 'nowhere.example.com/v1', kind: 'Nothing', metadata: { name: 'a' } };
    const { status, stderr } = await run([...argv, ...stdin], { manifest: unknown });
    expect(status).toBe(1);
    expect(stderr).toBe(
      'error: resource mapping not found for name: "a" namespace: "" from "STDIN": ' +
        'no matches for kind "Nothing" in version "nowhere.example.com/v1"\nensure CRDs are installed first\n',
    );
  });

  it('kubectl apply --server-side applies, and names the manager of a conflict', async () => {
    const apply = (cups: number, ...more: string[]) =>
      run(['apply', '--server-side', ...more, ...stdin], { manifest: sampleObject('server-side', { cups }) });
    expect((await apply(2)).stdout).toBe('kettle.kitchen.example.net/server-side serverside-applied\n');
    const other = await apply(5, '--field-manager=other');
    expect(other.status).toBe(1);
    expect(other.stderr).toContain('conflict with "kubectl": .spec.cups');
    expect((await apply(5, '--field-manager=other', '--force-conflicts')).status).toBe(0);
    expect(await field('server-side', '.spec.cups')).toBe('5');
  });

  it('kubectl get prints the columns, and -o wide also those of lower priority', async () => {
    await create('printed', { cups: 4 });
    const rows = async (...args: string[]) =>
      (await output(['get', 'kt', 'printed', ...args]))
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/\s{2,}|\s+$/).filter(Boolean));
    expect(await rows()).toEqual([
      ['NAME', 'CUPS', 'BOILS'],
      ['printed', '4'],
    ]);
    expect(await rows('-o', 'wide')).toEqual([
      ['NAME', 'CUPS', 'BOILS', 'TEA'],
      ['printed', '4', 'black'],
    ]);
    expect(await output(['get', 'kettle/printed', '-o', 'name'])).toBe('kettle.kitchen.example.net/printed\n');
    expect(await output(['get', 'kettles', 'printed', '-o', 'yaml'])).toContain('kind: Kettle\n');
  });

  it('kubectl get -w prints a row for every change', async () => {
    await create('watched', { cups: 1 });
    await using watch = follow(['get', 'kettles', 'watched', '-w', '--no-headers']);
    expect(await watch.next()).toMatch(/^watched +1/);
    await output(['patch', 'kettle', 'watched', '--type', 'merge', '-p', '{"spec":{"cups":7}}']);
    expect(await watch.next()).toMatch(/^watched +7/);
    const status = '{"status":{"conditions":[{"type":"Boils","status":"True"}]}}';
    await output(['patch', 'kettle', 'watched', '--subresource', 'status', '--type', 'merge', '-p', status]);
    expect(await watch.next()).toMatch(/^watched +7 +True/);
  });

  it('kubectl wait ends when the condition is True', async () => {
    await create('awaited');
    const waited = output(['wait', 'kettle/awaited', '--for=condition=Boils', '--timeout=30s']);
    const status = '{"status":{"conditions":[{"type":"Boils","status":"True"}]}}';
    await output(['patch', 'kettle', 'awaited', '--subresource=status', '--type=merge', '-p', status]);
    expect(await waited).toBe('kettle.kitchen.example.net/awaited condition met\n');
  });

  it('kubectl edit writes the saved text, and nothing if it is unchanged', async () => {
    await create('edited', { cups: 2 });
    expect(await output(['edit', 'kettle', 'edited'], { editor: "sed -i 's/cups: 2/cups: 6/'" })).toContain('edited');
    expect(await field('edited', '.spec.cups')).toBe('6');
    const untouched = await run(['edit', 'kettle', 'edited'], { editor: 'true' });
    expect(untouched.stdout + untouched.stderr).toContain('no changes made');
  });

  it('kubectl patch supports merge and JSON patches, but not strategic ones for custom resources', async () => {
    await create('patched', { cups: 2 });
    const patch = (type: string, content: string) =>
      run(['patch', 'kettle', 'patched', `--type=${type}`, '-p', content]);
    expect((await patch('merge', '{"spec":{"cups":3}}')).stdout).toContain('patched\n');
    expect((await patch('merge', '{"spec":{"cups":3}}')).stdout).toContain('patched (no change)\n');
    expect((await patch('json', '[{"op":"replace","path":"/spec/cups","value":4}]')).status).toBe(0);
    expect(await field('patched', '.spec.cups')).toBe('4');
    expect((await patch('strategic', '{"spec":{"cups":5}}')).stderr).toContain(
      'the body of the request was in an unknown format',
    );
  });

  it('kubectl scale writes the declared field', async () => {
    await create('scaled', { cups: 1 });
    expect(await output(['scale', 'kettle/scaled', '--replicas=8'])).toBe('kettle.kitchen.example.net/scaled scaled\n');
    expect(await field('scaled', '.spec.cups')).toBe('8');
  });

  it('kubectl diff shows what an apply would change, and changes nothing', async () => {
    await output(['apply', ...stdin], { manifest: sampleObject('compared', { cups: 2 }) });
    const changed = await run(['diff', ...stdin], { manifest: sampleObject('compared', { cups: 5 }) });
    expect(changed.status).toBe(1);
    expect(changed.stdout).toMatch(/^-\s+cups: 2$/m);
    expect(changed.stdout).toMatch(/^\+\s+cups: 5$/m);
    expect(await field('compared', '.spec.cups')).toBe('2');
  });

  it('kubectl delete waits for the finalizers', async () => {
    await create('held', { cups: 1 }, { finalizers: ['kitchen.example.net/hot'] });
    const removed = output(['delete', 'kettle', 'held']);
    await output(['wait', 'kettle/held', '--for=jsonpath={.metadata.deletionTimestamp}', '--timeout=30s']);
    await output(['patch', 'kettle', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
    expect(await removed).toContain('kettle.kitchen.example.net "held" deleted');
    expect((await run(['get', 'kettle', 'held'])).status).toBe(1);
  });

  it('kubectl describe and events show the events of an object', async () => {
    await create('told', { cups: 1 });
    const uid = await field('told', '.metadata.uid');
    const involvedObject = { apiVersion: 'kitchen.example.net/v1', kind: 'Kettle', name: 'told', namespace, uid };
    const now = new Date().toISOString().replace(/\.\d+Z/, 'Z');
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'told.1', namespace },
      involvedObject,
      type: 'Normal',
      reason: 'Whistled',
      message: 'It boils.',
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    };
    await output(['create', ...stdin], { manifest: event });
    expect(await output(['get', 'events', '--field-selector', 'involvedObject.name=told'])).toMatch(
      /Normal +Whistled +kettle\/told +It boils\./,
    );
    expect(await output(['events', '--for', 'kettle/told', '--no-headers'])).toMatch(
      /Whistled +Kettle\/told +It boils\./,
    );
    const description = await output(['describe', 'kettle', 'told']);
    expect(description).toMatch(/Name: +told/);
    expect(description).toMatch(/Cups: +1/);
    expect(description).toMatch(/Normal +Whistled .* It boils\./);
  });
}
