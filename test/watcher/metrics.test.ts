// Only the page that Prometheus scrapes: what each metric says, and what is left of a cluster that is no longer watched.
import { expect, it } from 'vitest';
import { createHealth } from '../../src/forwarding/health.ts';
import { ApiError, ConnectError } from '../../src/kube/client/errors.ts';
import { createMetrics } from '../../src/watcher/metrics.ts';

/** The metrics of two kinds: tanks were listed and had an event, and the server does not serve dinners. */
function watched() {
  let nowMs = 0;
  const health = createHealth(() => nowMs);
  const [tanks, dinners] = [health.loop('tanks'), health.loop('dinners')];
  tanks.listing();
  tanks.recordError(new ConnectError('no response'));
  tanks.restarted();
  tanks.received();
  dinners.recordError(new ApiError('GET /x', 404, '404 page not found'));
  nowMs = 7_000;
  return { health, queueDepth: () => 3, objects: () => new Map([['tanks', 4]]) };
}

it('the metrics of a watcher count what is sent, refused and retried, and show each kind of each cluster', async () => {
  const { of, page } = createMetrics();
  const { forward, observe, remove } = of('prod');
  observe(watched());
  for (const latencyMs of [40, 2_000]) forward.accepted('dish', 'change', latencyMs);
  forward.coalesced('dish');
  forward.rejected('dish.fifo', 5);
  forward.rateLimited('dish', 6);
  const lines = async () => {
    const own = (await page()).split('\n').filter((line) => /^outrigger_watcher_(?!.*_bucket)/.test(line));
    return own.map((line) => line.slice('outrigger_watcher_'.length));
  };
  const counted = [
    'forwarded_total{cluster="prod",controller="dish",cause="change"} 2',
    'coalesced_total{cluster="prod",controller="dish"} 1',
    'rate_limited_total{cluster="prod",controller="dish"} 6',
    'send_failures_total{cluster="prod",queue="dish.fifo"} 5',
    'forward_latency_seconds_sum{cluster="prod",controller="dish",cause="change"} 2.04',
    'forward_latency_seconds_count{cluster="prod",controller="dish",cause="change"} 2',
  ];
  const shown = [
    'queue_depth{cluster="prod"} 3',
    'cluster_ready{cluster="prod"} 1',
    'objects{cluster="prod",kind="tanks"} 4',
    'last_event_age_seconds{cluster="prod",kind="tanks"} 7',
    'served{cluster="prod",kind="tanks"} 1',
    'served{cluster="prod",kind="dinners"} 0',
    'lists_total{cluster="prod",kind="tanks"} 1',
    'lists_total{cluster="prod",kind="dinners"} 0',
    'watch_errors_total{cluster="prod",kind="tanks"} 1',
    'watch_errors_total{cluster="prod",kind="dinners"} 1',
    'loop_restarts_total{cluster="prod",kind="tanks"} 1',
    'loop_restarts_total{cluster="prod",kind="dinners"} 0',
  ];
  expect(await lines()).toEqual([...counted, ...shown]);
  // The watcher that follows on the same cluster is not removed with the one before.
  of('prod').observe(watched());
  remove();
  expect(await lines()).toEqual([...counted, ...shown]);
  const { observe: begin, remove: end } = of('other');
  begin(watched());
  expect(await lines()).toContain('queue_depth{cluster="other"} 3');
  end();
  expect(await lines()).toEqual([...counted, ...shown]);
});
