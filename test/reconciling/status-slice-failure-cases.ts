// A second controller's part whose reconcile fails, against an API server: the failure is said in its own conditions, and the rest of
// the status stands. Parts that do not fail are part-cases.ts.
import { describe, expect, it } from 'vitest';
import { TerminalError } from '../../src/core/errors.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { painted, widgetsOn } from './widgets.ts';

const manager = 'outrigger-widget-painter';

/** Declares the cases for a server. */
export function partFailureCases(connect: () => Connection): void {
  describe('a part that fails', () => {
    const widgets = widgetsOn(connect);
    const { apply, condition, owned, paint, read, reconcile } = widgets;
    const fail = (error: Error) => {
      widgets.painting.reconcile = async () => {
        throw error;
      };
    };
    const whole = async () => {
      await apply('a', { size: 3 });
      await reconcile('a');
      await paint('a');
    };

    it('says so in its own conditions, keeps what it owns, and takes it back; Ready stands', async () => {
      await whole();
      fail(new Error('no brush'));
      expect((await paint('a')).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
      const failed = await read('a');
      expect(condition(failed, 'Painted')).toMatchObject({
        status: 'Unknown',
        reason: 'Retrying',
        message: 'no brush',
      });
      expect(failed?.status).toMatchObject({ size: 3, coat: 'red', observedGeneration: 1 });
      expect(condition(failed, 'Ready')).toMatchObject({ status: 'True' });
      for (const type of ['Reconciling', 'Stalled']) expect(condition(failed, type)).toBeUndefined();
      widgets.painting.reconcile = async () => ({ status: { coat: 'red' }, conditions: { Painted: painted } });
      await paint('a');
      expect(condition(await read('a'), 'Painted')).toMatchObject({ status: 'True', reason: 'Painted' });
    });

    it('before it ever wrote anything says so all the same', async () => {
      await apply('a', { size: 3 });
      fail(new Error('no brush'));
      await paint('a');
      expect(await owned('a', manager)).toEqual({ conditions: ['Painted'] });
    });

    it('at its last attempt is given up at this generation, for itself alone', async () => {
      await whole();
      fail(new Error('no brush'));
      expect((await paint('a', { attempt: 9 })).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
      expect(condition(await read('a'), 'Painted')).toMatchObject({ status: 'False', reason: 'GaveUp' });
      const before = (await read('a'))?.metadata.resourceVersion;
      expect((await paint('a')).outcome).toMatchObject({ type: 'failed', stalledBefore: true });
      expect((await read('a'))?.metadata.resourceVersion).toBe(before);
      widgets.behaviour.reconcile = async () => {
        throw new Error('no pump');
      };
      expect((await reconcile('a')).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
      await apply('a', { size: 4 });
      expect((await paint('a')).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
    });

    it('does not know of the other’s being given up', async () => {
      await whole();
      widgets.behaviour.reconcile = async () => {
        throw new Error('no pump');
      };
      await reconcile('a', { attempt: 9 });
      fail(new Error('no brush'));
      expect((await paint('a')).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
      expect(condition(await read('a'), 'Painted')).toMatchObject({ status: 'Unknown' });
      expect(condition(await read('a'), 'Stalled')).toMatchObject({ status: 'True' });
    });

    it('with a TerminalError is given up at once', async () => {
      await whole();
      fail(new TerminalError('no such colour'));
      expect((await paint('a')).outcome.type).toBe('terminal');
      expect(condition(await read('a'), 'Painted')).toMatchObject({ status: 'False', reason: 'TerminalError' });
      expect(condition(await read('a'), 'Ready')).toMatchObject({ status: 'True' });
    });

    it('with a status to write writes it as it is said, and goes on as if thrown', async () => {
      await apply('a', { size: 3 });
      widgets.painting.reconcile = async () => ({
        status: { coat: 'pink' },
        conditions: { Painted: { status: 'False', reason: 'Wet', message: 'a second one is missing' } },
        retry: new Error('wet'),
      });
      expect((await paint('a')).outcome.type).toBe('failed');
      const after = await read('a');
      expect(after?.status).toMatchObject({ coat: 'pink' });
      expect(condition(after, 'Painted')).toMatchObject({ status: 'False', reason: 'Wet' });
      expect((await paint('a', { attempt: 9 })).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
      expect((await paint('a')).outcome).toMatchObject({ type: 'failed', stalledBefore: true });
    });

    it('with a spec that it cannot read says InvalidSpec in its own conditions, as the other does in its own', async () => {
      await apply('a', { size: 'large' });
      expect((await paint('a')).outcome.type).toBe('terminal');
      const after = await read('a');
      expect(condition(after, 'Painted')).toMatchObject({ status: 'False', reason: 'InvalidSpec' });
      expect(condition(after, 'Painted')?.message).toContain('spec.size');
      expect(after?.status).toEqual({ conditions: [condition(after, 'Painted')] });
      await reconcile('a');
      expect(condition(await read('a'), 'Ready')).toMatchObject({ status: 'False', reason: 'InvalidSpec' });
      expect(await owned('a', manager)).toEqual({ conditions: ['Painted'] });
    });
  });
}
