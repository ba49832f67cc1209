// Faults on request: the broken part, its effect on the objects, and the time until every object was reconciled.
import { signal } from '@preact/signals';
import type { Experiment, FaultRow } from '../../wire.ts';
import { perform } from '../actions.ts';
import { clock, duration } from '../format.ts';
import { Icon } from '../parts/icon.tsx';
import { experiments, faults, now } from '../store.ts';

/** How long a part may be broken, in seconds. */
const durations = [3, 8, 30] as const;
const chosen = signal<number>(8);

export function BreakView() {
  const [latest] = experiments.value;
  const running = latest !== undefined && latest.endedAt === undefined ? latest : undefined;
  const blocked = running && `${titleOf(running.fault)} runs: one fault at a time, until every change is reconciled`;
  const byPart = Map.groupBy(faults.value, ({ part }) => part);
  return (
    <div class="break">
      <header class="break-head">
        <div>
          <h1>Break it</h1>
          <p>
            A part fails for some seconds while every object changes. Then the page shows what was lost, and how long it
            took from the repair until every change was reconciled.
          </p>
        </div>
        <label>
          Broken for{' '}
          <select
            value={String(chosen.value)}
            onChange={(event) => {
              chosen.value = Number(event.currentTarget.value);
            }}
          >
            {durations.map((seconds) => (
              <option key={seconds} value={String(seconds)}>
                {seconds} seconds
              </option>
            ))}
          </select>
        </label>
      </header>
      {latest !== undefined && <Result experiment={latest} />}
      <div class="break-parts">
        {[...byPart].map(([part, own]) => (
          <section key={part} class="card" aria-label={part}>
            <header class="card-head">
              <h2>{part}</h2>
            </header>
            <ul class="faults">
              {own.map((fault) => (
                <li key={fault.name}>
                  <div>
                    <strong>{fault.title}</strong>
                    <p>{fault.text}</p>
                  </div>
                  <button
                    type="button"
                    class="button small"
                    aria-label={`${running?.fault === fault.name ? 'Running' : 'Break'}: ${fault.title}`}
                    // A button that is disabled has no focus, and a reader would not get the reason.
                    aria-disabled={blocked !== undefined}
                    aria-description={blocked}
                    title={blocked}
                    onClick={() => blocked === undefined && void breakIt(fault)}
                  >
                    <Icon name="bolt" />
                    {running?.fault === fault.name ? 'Running' : 'Break'}
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
      <Past all={experiments.value.filter(({ endedAt }) => endedAt !== undefined)} />
    </div>
  );
}

async function breakIt({ name: fault, title, text }: FaultRow): Promise<void> {
  const question = { verb: 'Break', what: title, text, isHarmless: true };
  await perform({ type: 'break', fault, seconds: chosen.value }, question);
}

function titleOf(name: string): string {
  return faults.value.find((one: FaultRow) => one.name === name)?.title ?? name;
}

/** From the repair to the last reconcile. Zero if nothing was left to do at the repair. */
function recoveryMs({ repairedAt, reconciledAt }: Experiment): number | undefined {
  return repairedAt === undefined || reconciledAt === undefined ? undefined : Math.max(0, reconciledAt - repairedAt);
}

function Result({ experiment }: { readonly experiment: Experiment }) {
  const { fault, seconds, startedAt, repairedAt, endedAt, total, awaited, failed, problem } = experiment;
  const reconciled = total - awaited - failed;
  const isBroken = repairedAt === undefined;
  const state = isBroken ? 'broken' : endedAt === undefined ? 'recovering' : awaited > 0 ? 'lost' : 'converged';
  const texts = { broken: 'Broken', recovering: 'Recovering', lost: 'Not reconciled in time', converged: 'Converged' };
  const elapsed = (endedAt ?? now.value) - startedAt;
  const recovery = recoveryMs(experiment);
  return (
    <section class={`card result ${state}`} aria-label="Experiment">
      <header>
        <span class={`pill ${state === 'converged' ? 'good' : state === 'recovering' ? 'busy' : 'bad'}`}>
          <span class="pill-dot" aria-hidden="true" />
          {texts[state]}
        </span>
        <h2>{titleOf(fault)}</h2>
        <time>{isBroken ? `${Math.max(0, Math.ceil(seconds - elapsed / 1000))} s until the repair` : ''}</time>
      </header>
      <progress max={Math.max(1, total)} value={reconciled} aria-label="Reconciled changes" />
      <dl>
        <div>
          <dt>Changes</dt>
          <dd>{total}</dd>
        </div>
        <div>
          <dt>Reconciled</dt>
          <dd>{reconciled}</dd>
        </div>
        <div>
          <dt>Lost</dt>
          <dd class={state === 'lost' ? 'bad' : state === 'converged' ? 'good' : ''}>
            {endedAt === undefined ? '–' : awaited}
          </dd>
        </div>
        <div>
          <dt>Failed</dt>
          <dd class={failed > 0 ? 'bad' : ''}>{failed}</dd>
        </div>
        <div>
          <dt>Time to converge</dt>
          <dd>{recovery === undefined ? '–' : duration(recovery)}</dd>
        </div>
      </dl>
      {failed > 0 && <p class="none">Failed: reconciled, with an error. Nothing of it is lost; see its object.</p>}
      {problem !== undefined && <p class="letter-error">{problem}</p>}
    </section>
  );
}

function Past({ all }: { readonly all: readonly Experiment[] }) {
  if (all.length === 0) return null;
  return (
    <section class="card" aria-label="Past experiments">
      <header class="card-head">
        <h2>Past experiments</h2>
      </header>
      <table class="table past">
        <thead>
          <tr>
            <th scope="col">At</th>
            <th scope="col">Fault</th>
            <th scope="col">Changes</th>
            <th scope="col">Lost</th>
            <th scope="col">Time to converge</th>
          </tr>
        </thead>
        <tbody>
          {all.map((one) => {
            const recovery = recoveryMs(one);
            return (
              <tr key={one.startedAt}>
                <td>{clock(one.startedAt)}</td>
                <td>{titleOf(one.fault)}</td>
                <td>{one.total}</td>
                <td>{one.awaited}</td>
                <td>{recovery === undefined ? '–' : duration(recovery)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
