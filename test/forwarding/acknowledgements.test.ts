// The low watermark of one collection while its keys are queued or in flight. Only the tracker; no queue.
import { expect, it } from 'vitest';
import { createAckTracker } from '../../src/forwarding/acknowledgements.ts';

const recordedTracker = () => {
  const versions: string[] = [];
  return { versions, acks: createAckTracker((version) => versions.push(version)) };
};

it('the low watermark reaches a version once every key up to it is accepted, and one that is accepted twice counts once', () => {
  const { acks, versions } = recordedTracker();
  acks.advance('10');
  const pending = acks.open();
  acks.advance('11');
  acks.advance('12');
  expect(acks.lowWatermark()).toBe('10');
  acks.close(pending);
  acks.close(pending);
  expect(acks.lowWatermark()).toBe('12');
  expect(versions).toEqual(['10', '12']);
});

it('after a reset, keys from before it neither hold back the low watermark nor report a version', () => {
  const { acks, versions } = recordedTracker();
  acks.advance('900');
  const pending = acks.open();
  acks.reset();
  acks.advance('5');
  acks.close(pending);
  expect(versions).toEqual(['900', '5']);
  acks.reset();
  acks.advance('5');
  expect(versions).toEqual(['900', '5', '5']);
});
