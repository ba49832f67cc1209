// What a person does with kubectl to custom resources, command by command, against whatever server it is given. Kinds of
// Kubernetes' own are kubectl-builtin-cases.ts.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KETTLES, kettle, kettleDefinition } from './toy-kind.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';

/** Where kubectl is and whom it talks to. */
export interface KubectlTarget {
  readonly kubectlPath: string;
  readonly kubeconfig: string;
}

const STDIN = ['-f', '-'] as const;

/** Declares the cases, which share one namespace; each uses a kettle of its own. */
export async function kubectlCases({ kubectlPath, kubeconfig }: KubectlTarget): Promise<void> {
  const namespace = `kubectl-${crypto.randomUUID().slice(0, 8)}`;
  const kubectl: Kubectl = await createKubectl(kubectlPath, kubeconfig, namespace);
  const { run, say, follow } = kubectl;
  const field = (name: string, path: string): Promise<string> =>
    say(['get', KETTLES, name, '-o', `jsonpath={${path}}`]);
  const create = (name: string, spec?: object, metadata?: object): Promise<string> =>
    say(['create', ...STDIN], { manifest: kettle(name, spec, metadata) });

  beforeAll(async () => {
    await say(['create', 'namespace', namespace]);
    await say(['apply', ...STDIN], { manifest: kettleDefinition });
    await say(['wait', '--for=condition=Established', `crd/${KETTLES}`, '--timeout=30s']);
  });
  afterAll(async () => {
    await say(['delete', 'crd', KETTLES]);
    await kubectl.close();
  });

  it('api-resources names the kind with its short name', async () => {
    const rows = await say(['api-resources', '--api-group=kitchen.example.net', '--no-headers']);
    expect(rows.trim().split(/\s+/)).toEqual(['kettles', 'kt', 'kitchen.example.net/v1', 'true', 'Kettle']);
    expect(await say(['api-versions'])).toContain('kitchen.example.net/v1\n');
  });

  it('explain tells what the schema describes', async () => {
    // A real server publishes the schema of a new kind some seconds after it serves it.
    const explain = async () => (await run(['explain', 'kettles'])).status;
    await expect.poll(explain, { timeout: 30_000, interval: 500 }).toBe(0);
    const kind = await say(['explain', 'kettles']);
    expect(kind).toContain('KIND:       Kettle');
    expect(kind).toContain('A kettle boils water for some cups.');
    const cups = await say(['explain', 'kettles.spec.cups']);
    expect(cups).toContain('FIELD: cups <integer>');
    expect(cups).toContain('How many cups to boil for.');
  });

  it('apply creates, then changes nothing, then configures', async () => {
    const apply = (cups: number): Promise<string> =>
      say(['apply', ...STDIN], { manifest: kettle('applied', { cups }) });
    expect(await apply(2)).toBe('kettle.kitchen.example.net/applied created\n');
    expect(await apply(2)).toBe('kettle.kitchen.example.net/applied unchanged\n');
    expect(await apply(3)).toBe('kettle.kitchen.example.net/applied configured\n');
    expect(await field('applied', '.spec.cups')).toBe('3');
  });

  it('apply removes what the manifest no longer says', async () => {
    await say(['apply', ...STDIN], { manifest: kettle('shrunk', { cups: 2, tea: 'green' }, { labels: { a: 'b' } }) });
    await say(['apply', ...STDIN], { manifest: kettle('shrunk', { cups: 2 }) });
    expect(await field('shrunk', '.spec.tea')).toBe('black');
    expect(await field('shrunk', '.metadata.labels')).toBe('');
  });

  it('apply refuses a field that the schema does not know, and a value it does not allow', async () => {
    const unknown = await run(['apply', ...STDIN], { manifest: kettle('bad', { cups: 1, sugar: 2 }) });
    expect(unknown.status).toBe(1);
    expect(unknown.stderr).toContain('unknown field "spec.sugar"');
    const wrong = await run(['apply', ...STDIN], { manifest: kettle('bad', { cups: 99, tea: 'red' }) });
    expect(wrong.stderr).toContain('The Kettle "bad" is invalid');
    expect(wrong.stderr).toContain(
      'spec.cups: Invalid value: 99: spec.cups in body should be less than or equal to 12',
    );
    expect(wrong.stderr).toContain('spec.tea: Unsupported value: "red": supported values: "green", "black"');
  });

  it('apply --server-side applies, and names whom it conflicts with', async () => {
    const apply = (cups: number, ...more: string[]) =>
      run(['apply', '--server-side', ...more, ...STDIN], { manifest: kettle('server-side', { cups }) });
    expect((await apply(2)).stdout).toBe('kettle.kitchen.example.net/server-side serverside-applied\n');
    const other = await apply(5, '--field-manager=other');
    expect(other.status).toBe(1);
    expect(other.stderr).toContain('conflict with "kubectl": .spec.cups');
    expect((await apply(5, '--field-manager=other', '--force-conflicts')).status).toBe(0);
    expect(await field('server-side', '.spec.cups')).toBe('5');
  });

  it('get prints the columns, -o wide those of lower priority too', async () => {
    await create('printed', { cups: 4 });
    const rows = async (...args: string[]) =>
      (await say(['get', 'kt', 'printed', ...args]))
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
    expect(await say(['get', 'kettle/printed', '-o', 'name'])).toBe('kettle.kitchen.example.net/printed\n');
    expect(await say(['get', 'kettles', 'printed', '-o', 'yaml'])).toContain('kind: Kettle\n');
  });

  it('get selects by label, by name and over all namespaces', async () => {
    await create('chosen', { cups: 1 }, { labels: { pick: 'me' } });
    const named = (...args: string[]) => say(['get', 'kettles', '-o', 'name', ...args]);
    expect(await named('-l', 'pick=me')).toBe('kettle.kitchen.example.net/chosen\n');
    expect(await named('--field-selector', 'metadata.name=chosen')).toBe('kettle.kitchen.example.net/chosen\n');
    expect(await say(['get', 'kettles', '-A', '-l', 'pick=me', '--no-headers'])).toMatch(
      new RegExp(`^${namespace} +chosen +1`),
    );
    expect((await run(['get', 'kettle', 'nobody'])).stderr).toContain(
      '(NotFound): kettles.kitchen.example.net "nobody" not found',
    );
    expect((await run(['get', 'kettles', '-l', 'pick=nothing'])).stderr).toContain('No resources found');
  });

  it('get -w prints a row for every change', async () => {
    await create('watched', { cups: 1 });
    await using watch = follow(['get', 'kettles', 'watched', '-w', '--no-headers']);
    expect(await watch.next()).toMatch(/^watched +1/);
    await say(['patch', 'kettle', 'watched', '--type', 'merge', '-p', '{"spec":{"cups":7}}']);
    expect(await watch.next()).toMatch(/^watched +7/);
    const status = '{"status":{"conditions":[{"type":"Boils","status":"True"}]}}';
    await say(['patch', 'kettle', 'watched', '--subresource', 'status', '--type', 'merge', '-p', status]);
    expect(await watch.next()).toMatch(/^watched +7 +True/);
  });

  it('wait ends when the condition comes true', async () => {
    await create('awaited');
    const waited = say(['wait', 'kettle/awaited', '--for=condition=Boils', '--timeout=30s']);
    const status = '{"status":{"conditions":[{"type":"Boils","status":"True"}]}}';
    await say(['patch', 'kettle', 'awaited', '--subresource=status', '--type=merge', '-p', status]);
    expect(await waited).toBe('kettle.kitchen.example.net/awaited condition met\n');
  });

  it('edit sends back what the editor saved, and nothing where it saved nothing', async () => {
    await create('edited', { cups: 2 });
    expect(await say(['edit', 'kettle', 'edited'], { editor: "sed -i 's/cups: 2/cups: 6/'" })).toContain('edited');
    expect(await field('edited', '.spec.cups')).toBe('6');
    const untouched = await run(['edit', 'kettle', 'edited'], { editor: 'true' });
    expect(untouched.stdout + untouched.stderr).toContain('no changes made');
  });

  it('patch knows merge and JSON patches; strategic ones are not for custom resources', async () => {
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

  it('label, annotate and replace change what they say', async () => {
    await create('marked');
    await say(['label', 'kettle', 'marked', 'room=kitchen']);
    await say(['annotate', 'kettle', 'marked', 'note=hot']);
    expect(await field('marked', '.metadata.labels.room')).toBe('kitchen');
    expect(await field('marked', '.metadata.annotations.note')).toBe('hot');
    await say(['label', 'kettle', 'marked', 'room-']);
    expect(await field('marked', '.metadata.labels.room')).toBe('');
    await say(['replace', ...STDIN], { manifest: kettle('marked', { cups: 9 }) });
    expect(await field('marked', '.spec.cups')).toBe('9');
  });

  it('scale writes the declared field', async () => {
    await create('scaled', { cups: 1 });
    expect(await say(['scale', 'kettle/scaled', '--replicas=8'])).toBe('kettle.kitchen.example.net/scaled scaled\n');
    expect(await field('scaled', '.spec.cups')).toBe('8');
  });

  it('diff shows what an apply would change, and changes nothing', async () => {
    await say(['apply', ...STDIN], { manifest: kettle('compared', { cups: 2 }) });
    const changed = await run(['diff', ...STDIN], { manifest: kettle('compared', { cups: 5 }) });
    expect(changed.status).toBe(1);
    expect(changed.stdout).toMatch(/^-\s+cups: 2$/m);
    expect(changed.stdout).toMatch(/^\+\s+cups: 5$/m);
    expect(await field('compared', '.spec.cups')).toBe('2');
  });

  it('delete waits for the finalizers', async () => {
    await create('held', { cups: 1 }, { finalizers: ['kitchen.example.net/hot'] });
    const removed = say(['delete', 'kettle', 'held']);
    await say(['wait', 'kettle/held', '--for=jsonpath={.metadata.deletionTimestamp}', '--timeout=30s']);
    await say(['patch', 'kettle', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
    expect(await removed).toContain('kettle.kitchen.example.net "held" deleted');
    expect((await run(['get', 'kettle', 'held'])).status).toBe(1);
  });

  it('delete takes a manifest or a selector, and may ignore what is not there', async () => {
    await create('gone-a', { cups: 1 }, { labels: { going: 'yes' } });
    await create('gone-b', { cups: 1 }, { labels: { going: 'yes' } });
    await say(['delete', ...STDIN], { manifest: kettle('gone-a') });
    expect(await say(['delete', 'kettles', '-l', 'going=yes'])).toContain('"gone-b" deleted');
    expect(await say(['delete', 'kettle', 'gone-a', '--ignore-not-found'])).toBe('');
  });

  it('describe and events show what was said about an object', async () => {
    await create('told', { cups: 1 });
    const uid = await field('told', '.metadata.uid');
    const involvedObject = { apiVersion: 'kitchen.example.net/v1', kind: 'Kettle', name: 'told', namespace, uid };
    const now = new Date().toISOString().replace(/\.\d+Z/, 'Z');
    const event = {
      ...{ apiVersion: 'v1', kind: 'Event', metadata: { name: 'told.1', namespace }, involvedObject, type: 'Normal' },
      ...{ reason: 'Whistled', message: 'It boils.', firstTimestamp: now, lastTimestamp: now, count: 1 },
    };
    await say(['create', ...STDIN], { manifest: event });
    expect(await say(['get', 'events', '--field-selector', 'involvedObject.name=told'])).toMatch(
      /Normal +Whistled +kettle\/told +It boils\./,
    );
    expect(await say(['events', '--for', 'kettle/told', '--no-headers'])).toMatch(/Whistled +Kettle\/told +It boils\./);
    const description = await say(['describe', 'kettle', 'told']);
    expect(description).toMatch(/Name: +told/);
    expect(description).toMatch(/Cups: +1/);
    expect(description).toMatch(/Normal +Whistled .* It boils\./);
  });
}
