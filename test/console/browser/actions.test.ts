// Only what a person does on the page: that an action is asked for, sent, and its result shown, with a console in memory.
// Those of a stage are test/deploy/console.test.ts, and which of them are asked for test/console/page/actions.test.ts.
import { describe, expect, it } from 'vitest';
import { eventually } from './chromium.ts';
import { notReady, tank, useFakeConsole } from './fake-console.ts';

const fake = useFakeConsole();
const openObjects = async () => {
  await fake.page.getByRole('link', { name: /^Objects/ }).click();
};

describe('an action', () => {
  it('an action that changes something is confirmed, and its result or its error is shown', async () => {
    fake.source.put(tank('north', notReady));
    await openObjects();
    await fake.page.getByRole('link', { name: 'north' }).click();
    const notices = fake.page.getByRole('status').filter({ hasText: /./ });
    await fake.page.getByRole('button', { name: 'Reconcile now' }).click();
    await notices.getByText('Done.').waitFor();
    fake.source.respond = () => ({
      text: 'Dry run',
      lines: ['change WaterTank default/north (status)', '  ~ level: 1 → 2'],
      yaml: [
        { mark: ' ', text: 'status:' },
        { mark: '-', text: '  level: 1' },
        { mark: '+', text: '  level: 2' },
      ],
    });
    await fake.page.getByRole('button', { name: 'Dry run' }).click();
    await fake.page.getByRole('region', { name: 'Dry run' }).getByText('~ level: 1 → 2').waitFor();
    await fake.page.getByRole('tab', { name: 'YAML' }).click();
    const yaml = fake.page.getByRole('tabpanel');
    await yaml.getByRole('button', { name: 'Compare with the next reconcile' }).click();
    await yaml.getByText('The next reconcile would change 2 lines.').waitFor();
    expect(await yaml.locator('pre').innerText()).toMatch(/^ {2}status:\s+- {3}level: 1\s+\+ {3}level: 2\s*$/);
    await yaml.getByRole('button', { name: 'As it is' }).click();
    await yaml.getByText('name: north').waitFor();
    await fake.page.getByRole('button', { name: 'Pause' }).click();
    await fake.page.getByRole('heading', { name: 'Pause WaterTank default/north in cluster local?' }).waitFor();
    await fake.page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).press('Escape');
    await fake.page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await fake.page.locator(':focus').innerText()).toBe('Pause');
    await fake.page.getByRole('button', { name: 'Pause' }).click();
    await fake.page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await fake.page.getByRole('dialog').waitFor({ state: 'detached' });
    fake.source.respond = () => {
      throw new Error('it is gone');
    };
    await fake.page.getByRole('button', { name: 'Pause' }).click();
    await fake.page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await fake.page.getByText('it is gone').waitFor();
    const { id } = tank('north');
    expect(fake.source.actions.map(({ type }) => type)).toEqual(['reconcile', 'dry-run', 'dry-run', 'pause']);
    expect(fake.source.actions.every((one) => 'id' in one && one.id === id)).toBe(true);
  });

  it('an open object says why it is in its state, with the action that ends it', async () => {
    const queue = 'water-tank-dlq.fifo';
    const action = { type: 'redrive', queue, messageId: 'm' } as const;
    const why = { state: 'dead letter', tone: 'bad', text: 'it is not retried any more: no pump', action } as const;
    fake.source.put(tank('north', notReady), { why });
    await openObjects();
    await fake.page.getByRole('link', { name: 'north' }).click();
    await fake.page.getByText('Dead letter: it is not retried any more: no pump.').waitFor();
    await fake.page.getByText('at the next change, or after a redrive').waitFor();
    await fake.page.getByRole('button', { name: 'Redrive' }).click();
    await fake.page.getByText('Redrive the dead letter of WaterTank default/north in cluster local?').waitFor();
    await fake.page.getByRole('dialog').getByRole('button', { name: 'Redrive' }).click();
    await eventually(
      async () => fake.source.actions,
      (all) => expect(all).toEqual([action]),
    );
    const text = 'foo is paused';
    fake.source.put(tank('south', notReady), {
      why: { state: 'paused', tone: 'neutral', text },
      dueAt: Date.now() + 9_000,
    });
    await fake.page.getByRole('link', { name: 'south' }).click();
    await fake.page.getByText('after it is resumed').waitFor();
    expect(await fake.page.getByRole('button', { name: 'Reconcile now' }).isDisabled()).toBe(true);
  });

  it('a dead letter has its reason, error and body, and is redriven or deleted after a question', async () => {
    const queue = 'water-tank-dlq.fifo';
    const dead = { queue, state: 'dead', controller: 'water-tank', reason: 'RetriesExhausted', attempts: 8 } as const;
    const letter = (name: string) => ({
      ...dead,
      messageId: name,
      id: tank(name).id,
      body: `{"name":"${name}","rest":"${'x'.repeat(2_000)}"}`,
      error: 'pump stuck',
    });
    fake.source.setQueues({
      messages: [
        letter('north'),
        letter('south'),
        {
          queue: 'timers',
          messageId: 't',
          state: 'timer',
          body: '',
          id: tank('pond').id,
          cause: 'requeue',
          dueAt: Date.now() + 90_500,
        },
      ],
      unread: [],
      more: { [queue]: 3_000 },
    });
    await fake.page.getByRole('link', { name: /^Queues/ }).click();
    await fake.page.getByText('pump stuck').first().waitFor();
    await fake.page.locator('.letter').filter({ hasText: 'north' }).locator('summary').click();
    await fake.page.getByText('"name":"north"').waitFor();
    expect(await fake.page.evaluate("document.querySelector('main').scrollWidth")).toBeLessThanOrEqual(1440);
    await fake.page
      .getByRole('region', { name: 'Timers' })
      .getByText(/in (90|89)s/)
      .waitFor();
    await fake.page.getByRole('button', { name: 'Redrive north' }).click();
    await fake.page.getByRole('dialog').getByRole('button', { name: 'Redrive' }).click();
    await eventually(
      async () => fake.source.actions,
      (all) => expect(all).toEqual([{ type: 'redrive', queue, messageId: 'north' }]),
    );
    await fake.page.getByRole('button', { name: 'Delete south' }).click();
    await fake.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await eventually(
      async () => fake.source.actions.at(1),
      (one) => expect(one).toEqual({ type: 'delete', queue, messageId: 'south' }),
    );
    // Also those that are not shown.
    await fake.page.getByText('3,000 more are not shown.').waitFor();
    await fake.page.getByRole('button', { name: 'Redrive all 3,002' }).click();
    await fake.page.getByText('Redrive 3,002 dead letters of water-tank-dlq.fifo in all clusters?').waitFor();
    await fake.page.getByRole('dialog').getByRole('button', { name: 'Redrive' }).click();
    await eventually(
      async () => fake.source.actions.at(2),
      (one) => expect(one).toEqual({ type: 'redrive', queue }),
    );
    // SQS still counts messages that a redrive has sent.
    fake.source.setQueues({ messages: [], unread: [], more: { [queue]: 5 } });
    await fake.page.getByRole('button', { name: 'Redrive all 5' }).waitFor();
    fake.source.setQueues({ messages: [], unread: [] });
    await fake.page.getByText('There are no dead letters.').waitFor();
    expect(fake.problems).toEqual([]);
  });
});
