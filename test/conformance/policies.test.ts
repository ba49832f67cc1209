// Conformance: ValidatingAdmissionPolicies and their bindings, enforced on the writes of a user: what they match, what
// their expressions see, and the Status of a refusal. The policies that Outrigger generates are in
// test/generate/children-policy.test.ts.
import { describe, expect, it } from 'vitest';
import { gadget, gadgetGroup, gadgets } from './gadget.ts';
import { useSuite } from './suite.ts';

const { wire, namespace } = await useSuite();
const admission = '/apis/admissionregistration.k8s.io/v1';
const apiVersion = 'admissionregistration.k8s.io/v1';
const everything = {
  apiGroups: [gadgetGroup],
  apiVersions: ['v1'],
  operations: ['*'],
  resources: ['gadgets', 'gadgets/*'],
};

type Parts = { readonly spec?: object; readonly constraints?: object; readonly binding?: object };

/** Makes a policy on the gadgets of a new namespace, and resolves when it is effective: it refuses the name `probe`. */
async function enforced(validations: readonly object[], { spec = {}, constraints = {}, binding = {} }: Parts = {}) {
  const ns = await namespace();
  await wire.mergePatch(`/api/v1/namespaces/${ns}`, { metadata: { labels: { of: ns } } });
  const probe = { expression: `object == null || object.metadata.?name.orValue('') != 'probe'`, message: 'the probe' };
  const matchConstraints = {
    resourceRules: [everything],
    namespaceSelector: { matchLabels: { of: ns } },
    ...constraints,
  };
  const policy = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: ns },
    spec: { matchConstraints, ...spec, validations: [probe, ...validations] },
  };
  const bound = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: `${ns}-b` },
    spec: { policyName: ns, validationActions: ['Deny'], ...binding },
  };
  for (const [plural, body] of [
    ['validatingadmissionpolicies', policy],
    ['validatingadmissionpolicybindings', bound],
  ] as const)
    expect((await wire.post(`${admission}/${plural}`, body)).status).toBe(201);
  await expect
    .poll(async () => {
      const tried = await wire.post(gadgets(ns), gadget('probe'), { dryRun: 'All' });
      return tried.text + tried.warnings.join();
    })
    .toContain('the probe');
  const by = `ValidatingAdmissionPolicy '${ns}' with binding '${ns}-b'`;
  return { ns, by, create: (metadata?: object) => wire.post(gadgets(ns), gadget('one', { size: 1 }, metadata)) };
}

const never = { expression: `object == null || object.metadata.?name.orValue('') == 'probe'`, message: 'never' };

describe('the refusal of a policy', () => {
  it('is a 403 with the reason Forbidden if the validation has it, and names policy, binding and object', async () => {
    const { create, by } = await enforced([
      { expression: 'object.spec.size > 1', message: ' no ', reason: 'Forbidden' },
    ]);
    const message = `gadgets.${gadgetGroup} "one" is forbidden: ${by} denied request: no`;
    const details = { name: 'one', group: gadgetGroup, kind: 'gadgets' };
    expect((await create()).body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      code: 403,
      reason: 'Forbidden',
      message,
      details: { ...details, causes: [{ message: `${by} denied request: no` }] },
    });
  });

  it.each([
    ['no reason and no message', {}, 422, 'Invalid', 'failed expression: object.spec.size > 1'],
    ['a message of its own', { messageExpression: `'size ' + string(object.spec.size)` }, 422, 'Invalid', 'size 1'],
    ['a message that fails', { messageExpression: 'string(object.spec.none)', message: 'm' }, 422, 'Invalid', 'm'],
    ['a message of two lines', { messageExpression: `'a\\nb'`, message: 'm' }, 422, 'Invalid', 'm'],
    ['another reason', { reason: 'RequestEntityTooLarge', message: 'm' }, 413, 'RequestEntityTooLarge', 'm'],
  ])('of a validation with %s has its status and text', async (_, rest, status, reason, text) => {
    const { create, by } = await enforced([{ expression: 'object.spec.size > 1', ...rest }]);
    const { body } = await create();
    expect(body).toMatchObject({ code: status, reason });
    expect(body.message).toBe(`gadgets.${gadgetGroup} "one" is forbidden: ${by} denied request: ${text}`);
  });

  it('names the prefix of a name that is generated, and comes after the validation of the object', async () => {
    const { ns } = await enforced([{ expression: 'false', message: 'm' }]);
    const { name: _, ...unnamed } = gadget('one').metadata;
    const made = await wire.post(gadgets(ns), { ...gadget('one'), metadata: { ...unnamed, generateName: 'a-' } });
    expect(made.body.message).toMatch(/"a-[a-z0-9]{5}" is forbidden/);
    const invalid = await wire.post(gadgets(ns), gadget('one', { size: -1 }));
    expect(invalid.body.message).not.toContain('denied');
  });

  it('an expression that fails refuses the request, unless the failure policy is Ignore', async () => {
    const broken = { expression: `object.metadata.name == 'probe' || object.spec.none == 1` };
    const strict = await enforced([broken]);
    const refused = (await strict.create()).body;
    expect(refused).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(refused.message).toContain(
      `denied request: expression '${broken.expression}' resulted in error: no such key`,
    );
    const lax = await enforced([broken], { spec: { failurePolicy: 'Ignore' } });
    expect((await lax.create()).status).toBe(201);
  });

  it('is a warning and no refusal for the action Warn', async () => {
    const { create, by } = await enforced([{ expression: 'object.spec.size > 1', message: 'm' }], {
      binding: { validationActions: ['Warn'] },
    });
    const { status, warnings } = await create();
    expect(status).toBe(201);
    expect(warnings).toEqual([`Validation failed for ${by}: m`]);
  });
});

describe('what a policy is for', () => {
  it.each<[string, Parts, object, number]>([
    ['a condition that is false', { spec: { matchConditions: condition('object.metadata.name == "probe"') } }, {}, 201],
    ['a condition that is true', { spec: { matchConditions: condition(`request.operation == 'CREATE'`) } }, {}, 422],
    [
      'an object selector that does not select',
      { constraints: { objectSelector: without('a') } },
      { labels: { a: 'b' } },
      201,
    ],
    ['an object selector that selects', { constraints: { objectSelector: without('a') } }, {}, 422],
    ['the names of other objects', { constraints: rules({ ...everything, resourceNames: ['probe', 'x'] }) }, {}, 201],
    ['other operations', { constraints: rules(named('probe'), { ...everything, operations: ['UPDATE'] }) }, {}, 201],
    [
      'other subresources',
      { constraints: rules(named('probe'), { ...everything, resources: ['gadgets/*'] }) },
      {},
      422,
    ],
    ['only subresources', { constraints: rules(named('probe'), { ...everything, resources: ['*/status'] }) }, {}, 201],
    ['excluded rules', { constraints: { excludeResourceRules: [named('one')] } }, {}, 201],
    ['a binding for others', { binding: { matchResources: { resourceRules: [named('probe')] } } }, {}, 201],
    ['another scope', { constraints: rules(named('probe'), { ...everything, scope: 'Cluster' }) }, {}, 201],
  ])('a creation is answered under a policy with %s', async (_, parts, metadata, status) => {
    const { create } = await enforced([never], parts);
    expect((await create(metadata)).status).toBe(status);
  });

  it('an update has both objects, a deletion the old one, and a change of nothing is checked too', async () => {
    const { ns, create } = await enforced([
      { expression: `request.operation != 'UPDATE' || object.spec.size >= oldObject.spec.size`, message: 'smaller' },
      { expression: `request.operation != 'DELETE' || (object == null && oldObject.spec.size > 5)`, message: 'keep' },
      { expression: `request.operation != 'UPDATE' || oldObject.spec.size < 9`, message: 'full' },
    ]);
    const one = gadgets(ns, 'one');
    expect((await create()).status).toBe(201);
    expect((await wire.remove(one)).body.message).toContain('keep');
    expect((await wire.remove(one, undefined, { dryRun: 'All' })).status).toBe(422);
    expect((await wire.mergePatch(one, { spec: { size: 9 } })).status).toBe(200);
    expect((await wire.mergePatch(one, { spec: { size: 1 } })).body.message).toContain('smaller');
    expect((await wire.mergePatch(one, {})).body.message).toContain('full');
    expect((await wire.apply(one, 'm', gadget('one', { size: 9 }), { force: true })).body.message).toContain('full');
    expect((await wire.remove(gadgets(ns))).status).toBe(200);
  });

  it('the request has operation, kind, resource and name; a subresource has its own kind', async () => {
    const of = `request.operation + ' ' + request.kind.kind + ' ' + request.resource.resource + ' ' + request.name`;
    const sub = `request.?subResource.orValue('none')`;
    const { ns, create } = await enforced([
      {
        expression: `request.operation == 'CREATE'`,
        messageExpression: `${of} + ' ' + ${sub} + ' ' + request.namespace + ' ' + string(request.dryRun)`,
      },
    ]);
    const one = gadgets(ns, 'one');
    await create();
    const asked = async (path: string, body: object) =>
      (await wire.mergePatch(path, body)).body.message?.split('denied request: ')[1];
    expect(await asked(one, { spec: { size: 2 } })).toBe(`UPDATE Gadget gadgets one none ${ns} false`);
    const status = { status: { phase: 'a' } };
    expect(await asked(`${one}/status`, status)).toBe(`UPDATE Gadget gadgets one status ${ns} false`);
    expect(await asked(`${one}/scale`, { spec: { replicas: 2 } })).toBe(`UPDATE Scale gadgets one scale ${ns} false`);
  });

  it('expressions see variables, which are evaluated when they are used, the namespace and the authorizer', async () => {
    const may = `authorizer.group('').resource('secrets').namespace('default').name('a').check('get').allowed()`;
    const { create } = await enforced(
      [
        {
          expression: 'variables.twice == 2 && namespaceObject.metadata.labels.of == object.metadata.namespace',
          message: 'variables',
        },
        { expression: may, message: 'authorizer' },
        { expression: 'false', messageExpression: `'twice: ' + string(variables.twice)` },
      ],
      {
        spec: {
          variables: [
            { name: 'size', expression: 'object.spec.size' },
            { name: 'twice', expression: 'variables.size * 2' },
            { name: 'broken', expression: 'object.spec.none' },
          ],
        },
      },
    );
    expect((await create()).body.message).toContain('denied request: twice: 2');
  });
});

it('a user who is impersonated is the user of the request', async () => {
  const review = { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' };
  const asked = await wire.request('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', review, {
    as: { user: 'ada', groups: ['a', 'b'] },
  });
  const userInfo = { username: 'ada', groups: ['a', 'b', 'system:authenticated'] };
  expect(asked.body).toMatchObject({ status: { userInfo } });
});

function condition(expression: string): readonly object[] {
  return [{ name: 'one', expression }];
}

function without(key: string): object {
  return { matchExpressions: [{ key, operator: 'DoesNotExist' }] };
}

function rules(...resourceRules: readonly object[]): object {
  return { resourceRules };
}

function named(name: string): object {
  return { ...everything, resourceNames: [name] };
}
