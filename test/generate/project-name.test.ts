// Only names in a cluster: every name of a project that is not the default one has the project's name, and two projects
// share no object and no identity. test/reconciling/shared-objects.test.ts has what their reconciles leave on objects.

import { generatedFiles } from '@outrigger/cli/project/manifests';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRecord } from '../../src/core/json.ts';
import {
  controllerIdentity,
  controllerOfFinalizer,
  controllerOfManager,
  controllerRole,
  fieldManagerOf,
  finalizerOf,
  isCheckpointKey,
  projectNameProblem,
} from '../../src/core/names.ts';
import { accessEntries } from '../../src/generate/rbac/access-entries.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { fixtureRegistry, treeWith } from './sample-registry.ts';

describe('the names of a project', () => {
  const objects = (project?: string) =>
    rbacOf(fixtureRegistry, watchListOf(fixtureRegistry, project)).map(({ kind, metadata }) => {
      const { name, namespace = '' } = isRecord(metadata) ? metadata : {};
      return `${kind} ${namespace}/${name}`;
    });

  it('two projects have no object of the generated manifests in common', () => {
    const [one, two, three] = [new Set(objects()), new Set(objects('cafes')), new Set(objects('bars'))];
    expect(one.size).toBe(two.size);
    expect([...one].filter((name) => two.has(name))).toEqual([]);
    expect([...two].filter((name) => three.has(name))).toEqual([]);
    expect([...two].filter((name) => !name.includes('cafes'))).toEqual([]);
  });

  it('two projects have no user, group or role in common', () => {
    const own = new Set(accessEntries(fixtureRegistry).flatMap(({ group, clusterRole }) => [group, clusterRole]));
    for (const { group, clusterRole } of accessEntries(fixtureRegistry, 'cafes')) {
      expect(own.has(group) || own.has(clusterRole)).toBe(false);
      expect(group).toMatch(/^outrigger:cafes:/);
    }
  });

  it('the names of the default project are the short ones', () => {
    expect(finalizerOf('cafe')).toBe('outrigger.dev/cafe');
    expect(fieldManagerOf('cafe')).toBe('outrigger-cafe');
    expect(controllerIdentity('cafe')).toBe('outrigger:controller:cafe');
    expect(controllerRole('cafe')).toBe('outrigger-cafe');
    expect(generatedFiles(fixtureRegistry, [], 'outrigger')).toEqual(generatedFiles(fixtureRegistry));
  });

  it('the names of another project have its name before the controller', () => {
    expect(finalizerOf('cafe', 'chain')).toBe('outrigger.dev/chain.cafe');
    expect(fieldManagerOf('cafe', 'chain')).toBe('outrigger-chain-cafe');
    expect(controllerIdentity('cafe', 'chain')).toBe('outrigger:chain:controller:cafe');
  });

  it('a watch list names the label value of a controller’s children', () => {
    const { project, resources } = watchListOf(fixtureRegistry, 'cafes');
    const owned = resources.flatMap(({ subscribers }) => subscribers.filter(({ as }) => as === 'owned'));
    expect(project).toBe('cafes');
    expect(owned.length).toBeGreaterThan(0);
    for (const { controller, childLabel } of owned) expect(childLabel).toBe(`cafes.${controller}`);
  });

  it('a finalizer is never read as another project’s, or as a name that no controller can have', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9]{0,5}(-[a-z0-9]{1,5})?$/);
    const project = fc.oneof(fc.constant('outrigger'), name);
    fc.assert(
      fc.property(name, project, project, (controller, one, two) => {
        expect(controllerOfFinalizer(finalizerOf(controller, one), one)).toBe(controller);
        expect(controllerOfManager(fieldManagerOf(controller, one), one)).toBe(controller);
        if (one !== two) expect(controllerOfFinalizer(finalizerOf(controller, one), two)).toBeUndefined();
      }),
    );
    expect(controllerOfFinalizer('outrigger.dev/$(reboot)')).toBeUndefined();
  });

  const rule = 'use two or more lower-case letters, digits and hyphens, as in cafe-chain';
  it.each([
    ['cafes', undefined],
    ['c', rule],
    ['Cafes', rule],
    ['a.b', rule],
    ['cafes-', rule],
    ['x'.repeat(31), 'it is longer than 30 characters'],
    ['controller', 'it is reserved'],
  ])('the project name %s: %s', (name, problem) => {
    expect(projectNameProblem(name)).toBe(problem);
  });

  it('a controller whose label value would be too long is rejected', () => {
    const project = 'p'.repeat(30);
    const generated = (length: number) => () => generatedFiles([treeWith('c'.repeat(length))], [], project);
    expect(generated(33)).toThrow(/is longer than 63 characters; use a shorter name/);
    expect(generated(32)).not.toThrow();
  });

  it('a controller whose label on selected objects would have too long a name is rejected', () => {
    const generated = (length: number) => () =>
      generatedFiles([treeWith('c'.repeat(length), { selector: { matchLabels: { a: 'b' } } })], [], 'p'.repeat(30));
    expect(generated(22)).toThrow(/has a name longer than 63 characters; use a shorter name/);
    expect(generated(21)).not.toThrow();
  });

  it.each([
    ['outrigger-system', 'outrigger-watch-checkpoint', true],
    ['outrigger-cafes-system', 'outrigger-cafes-watch-checkpoint', true],
    ['outrigger-cafes-system', 'outrigger-watch-checkpoint', false],
    ['cafes-system', 'cafes-watch-checkpoint', false],
    ['default', 'outrigger-watch-checkpoint', false],
  ])('%s/%s is a watch checkpoint: %s', (namespace, name, expected) => {
    expect(isCheckpointKey({ namespace, name })).toBe(expected);
  });
});
