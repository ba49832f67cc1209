// What the answers of a deployment mean: a finding for each function and each cluster, with the remedy.
import { wakeFunction } from 'outrigger/internal/core/names';
import { type Finding, failFinding, passFinding, warnFinding } from '../doctor/finding.ts';
import { type Answer, type FindAnswer, nextFunction } from './answers.ts';
import { type Route, stepsOf } from './routes.ts';

type Judgement = {
  readonly find: FindAnswer;
  /** Why probes were not sent, by the function. */
  readonly notSent: ReadonlyMap<string, string>;
  /** The ids of the roles, by their functions; undefined if the sender check is off. */
  readonly roles: ReadonlyMap<string, string> | undefined;
  readonly seconds: number;
  /** ` --stage prod`, for commands. */
  readonly at: string;
  readonly deploy: string;
};

/** Judges every route, and the clusters that the functions have asked. */
export function judge(routes: readonly Route[], judgement: Judgement): readonly Finding[] {
  const ended = routes.flatMap((route) => {
    const name = judgement.notSent.has(route.from) ? undefined : nextFunction(route, judgement.find);
    return name === undefined ? [] : [{ name, from: route.from }];
  });
  const silent = [...Map.groupBy(ended, ({ name }) => name)].map(([name, group]) => {
    const { seconds, at } = judgement;
    const others = group.map(({ from }) => from).filter((from) => from !== name);
    const of = others.length === 0 ? '' : ` what ${others.join(', ')} sent`;
    const fix = `outrigger doctor${at}, the log of ${name} (LOG_LEVEL=ERROR hides answers), and a longer --timeout`;
    return failFinding(`function ${name}`, `it has not answered${of} within ${seconds} s`, fix);
  });
  const others = routes.filter(({ from }) => !ended.some((one) => one.from === from));
  return [
    ...silent,
    ...others.map((one) => judgeRoute(one, judgement)),
    ...judgeClusters(routes, judgement),
    ...latency(routes, judgement.find),
  ];
}

/**
 * The time from a change to its status, without the reconciler's own, once functions are warm: a function that gets the
 * probe last has answered before. A reconcile reads the object and writes its status.
 */
function latency(routes: readonly Route[], find: FindAnswer): readonly Finding[] {
  const toFunction = routes.flatMap(({ from }) => find(from, 0)?.tookMs ?? []).toSorted((a, b) => a - b);
  const requests = routes.flatMap(({ from }) => {
    const clusters = find(from, 2)?.clusters ?? [];
    return 'error' in clusters ? [] : clusters.flatMap(({ requestMs }) => requestMs ?? []);
  });
  const [typical, slowest] = [middle(toFunction), toFunction.at(-1)];
  const request = middle(requests.toSorted((a, b) => a - b));
  if (typical === undefined || request === undefined) return [];
  const parts = `${typical} ms from queue to function (at most ${slowest} ms), and two requests of ${request} ms`;
  return [passFinding('latency', `about ${typical + 2 * request} ms from a change to its status: ${parts}`)];
}

const middle = (sorted: readonly number[]) => sorted[Math.floor(sorted.length / 2)];

function judgeRoute({ from, last }: Route, { find, notSent, roles, deploy, at }: Judgement): Finding {
  const about = `function ${from}`;
  const refused = notSent.get(from);
  if (refused !== undefined) {
    const permission = from === wakeFunction ? 'lambda:InvokeFunction' : 'sqs:SendMessage';
    return failFinding(
      about,
      `nothing can be sent to it: ${refused}`,
      sendFix(refused, `${deploy}; you need ${permission}`, at),
    );
  }
  const answers: Answer[] = [];
  let sender: string | undefined;
  for (const [left, name] of stepsOf({ from, last })) {
    const answer = find(from, left);
    if (answer === undefined) break;
    answers.push(answer);
    const expected = sender === undefined ? undefined : roles?.get(sender);
    if (expected !== undefined && answer.sender !== expected) {
      const message = `SQS names the role of ${sender} ${answer.sender}, and ${name} expects ${expected}`;
      return failFinding(about, `${message}: its messages are refused`, `a role was made again: ${deploy}`);
    }
    const { notSent: failed } = answer;
    if (failed !== undefined) {
      const message = `${name} cannot send to ${failed.reason}`;
      const fix = `if the role was changed, allow it sqs:SendMessage on ${failed.queue} again; ${deploy}`;
      return failFinding(about, message, sendFix(failed.reason, fix, at));
    }
    sender = name;
  }
  return arrived(about, answers, at);
}

/** A deployment does not create a deleted queue again. */
function sendFix(reason: string, otherwise: string, at: string): string {
  if (!/^queue \S+ does not exist/.test(reason)) return otherwise;
  return `it was deleted: outrigger doctor${at} prints the command that creates it again`;
}

function arrived(about: string, answers: readonly Answer[], at: string): Finding {
  const [first] = answers;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const back = answers.slice(1).reduce((sum, { tookMs }) => sum + tookMs, 0);
  const times = `answered after ${seconds(first?.tookMs ?? 0)}, by timers again after ${seconds(back)}`;
  const most = Math.max(...answers.map(({ receiveCount = 1 }) => receiveCount));
  if (most === 1) return passFinding(about, `${times}, ${first?.memoryMegabytes} MB`);
  const fix = `look for throttles and errors of the functions: outrigger doctor${at}`;
  return warnFinding(about, `${times}; a message was received ${most} times`, fix);
}

/** One finding for each cluster that all functions reach, and for each reason why some do not. */
function judgeClusters(routes: readonly Route[], { find, at }: Judgement): readonly Finding[] {
  const asked = routes.flatMap(({ from }) => {
    const clusters = find(from, 2)?.clusters ?? [];
    const all = 'error' in clusters ? [{ cluster: '', ms: 0, error: clusters.error }] : clusters;
    return all.map((one) => ({ ...one, from }));
  });
  if (asked.length === 0 && routes.some(({ from }) => find(from, 2)?.clusters !== undefined)) {
    const fix = `outrigger clusters list${at} shows them; add one: outrigger clusters add${at}`;
    return [warnFinding('clusters', 'no cluster was asked: the table has none, or none is in use', fix)];
  }
  const groups = Map.groupBy(asked, ({ cluster, error = '' }) => JSON.stringify([cluster, error]));
  return [...groups.values()].map((group) => {
    const [{ cluster, error } = { cluster: '', error: undefined }] = group;
    const names = group.map(({ from }) => from).join(', ');
    if (cluster === '') {
      const fix = `if there never was one: outrigger clusters add${at}; otherwise: docs/alarms/clusters-table-stale.md`;
      return failFinding('clusters', `the table cannot be read by ${names}: ${error}`, fix);
    }
    const about = `cluster ${cluster}`;
    const most = Math.max(...group.map(({ ms }) => ms));
    if (error === undefined) return passFinding(about, `accepts ${names}, within ${most} ms`);
    const entry = `check its entry, secret and network: outrigger doctor${at} --cluster ${cluster}`;
    const fix = / may not list /.test(error)
      ? `npx outrigger manifests, and apply them; on EKS outrigger clusters access ${cluster}${at}`
      : entry;
    return failFinding(about, `${names}: ${error}`, fix);
  });
}
