// Commands in containers as they go over the wire, against a server of the tests' own; servers that do not open are
// exec-refused.test.ts. What a real kube-apiserver allows is in test/cluster; what a controller may ask for in test/core/exec.test.ts.
import { describe, expect, it } from 'vitest';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { AnswerError, ApiError, DeadlineError } from '../../../src/kube/client/errors.ts';
import { type ExecOptions, exec } from '../../../src/kube/exec.ts';
import { failureOf } from '../../../src/runtime/failure.ts';
import { answer, endOf, startExecServer } from './exec-server.ts';
import { failure, statusOf } from '../wire-server.ts';

const pod = { namespace: 'shop', name: 'node-0' };
const path = '/api/v1/namespaces/shop/pods/node-0/exec';
const run = (client: KubeClient, options: ExecOptions = {}) =>
  exec(client, pod, { container: 'node-ctr', command: ['cli', 'list'] }, options);

describe('a command that ends', () => {
  it('with 0 is its output, said channel by channel', async () => {
    const server = await startExecServer(({ say, end }) => {
      say(1, 'one ');
      say(2, 'hm');
      say(1, 'two');
      end(0);
    });
    expect(await run(server.client())).toEqual({ exitCode: 0, stdout: 'one two', stderr: 'hm' });
  });

  it('with another code is a value as well', async () => {
    const server = await startExecServer(({ say, end }) => {
      say(2, 'error code: -23');
      end(23);
    });
    expect(await run(server.client())).toEqual({ exitCode: 23, stdout: '', stderr: 'error code: -23' });
  });

  it('is asked for word by word, without stdin and terminal', async () => {
    const server = await startExecServer(({ end }) => end(0));
    const command = ['cli', '', 'a b&c=d', '$(reboot)', 'ü\u{1f600}', '../..', '%2e'];
    await exec(server.client({ userAgent: 'me' }), pod, { container: 'c&stdin=true', command });
    expect(server.asked).toMatchObject([
      {
        path,
        query: [
          ['container', 'c&stdin=true'],
          ...command.map((word) => ['command', word]),
          ['stdout', 'true'],
          ['stderr', 'true'],
        ],
        headers: { 'sec-websocket-protocol': 'v4.channel.k8s.io', 'user-agent': 'me' },
      },
    ]);
  });

  it('keeps a character whole that lies across two messages, and a Status that comes in two', async () => {
    const server = await startExecServer(({ say }) => {
      const bytes = Buffer.from('ü');
      say(1, bytes.subarray(0, 1));
      say(1, bytes.subarray(1));
      const status = JSON.stringify(endOf(7));
      say(3, status.slice(0, 20));
      say(3, status.slice(20));
    });
    expect(await run(server.client())).toEqual({ exitCode: 7, stdout: 'ü', stderr: '' });
  });

  it('need not be followed by a close', async () => {
    const server = await startExecServer(({ say }) => say(3, JSON.stringify(endOf(0))));
    expect((await run(server.client())).exitCode).toBe(0);
  });

  it('leaves no connection open', async () => {
    let closed = () => {};
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const server = await startExecServer(({ say, socket }) => {
      socket.on('close', closed);
      say(3, JSON.stringify(endOf(0)));
    });
    await run(server.client());
    await gone;
  });

  it('may say much, but not more than is allowed', async () => {
    const server = await startExecServer(({ say, end }) => {
      for (let part = 0; part < 4; part += 1) say(part % 2 === 0 ? 1 : 2, 'x'.repeat(256 * 1024));
      end(0);
    });
    expect(await run(server.client())).toMatchObject({ stdout: 'x'.repeat(512 * 1024) });
    expect(await failure(run(server.client(), { maxOutputBytes: 1024 * 1024 - 1 }))).toBeInstanceOf(AnswerError);
  });

  it('cannot fill the memory with one message', async () => {
    const server = await startExecServer(({ say }) => say(1, Buffer.alloc(1024 * 1024)));
    expect(await failure(run(server.client(), { maxOutputBytes: 100_000 }))).toBeInstanceOf(AnswerError);
  });
});

describe('a command that does not end', () => {
  it('meets its deadline, whether the server is mute before the upgrade or after it', async () => {
    const mute = await startExecServer(() => undefined, { refuse: () => true });
    const hanging = await startExecServer(({ say }) => say(1, 'half'));
    for (const server of [mute, hanging]) {
      const error = await failure(run(server.client(), { timeoutSeconds: 0.1 }));
      expect(error).toBeInstanceOf(DeadlineError);
      expect(failureOf(error, 'later')).toBe('error');
    }
  });

  it('ends with the reason of the signal, before, while and after connecting', async () => {
    const reason = new Error('enough');
    const over = new AbortController();
    const mute = await startExecServer(() => undefined, {
      refuse: () => {
        over.abort(reason);
        return true;
      },
    });
    expect(await failure(run(mute.client(), { signal: over.signal }))).toBe(reason);
    expect(await failure(run(mute.client(), { signal: over.signal }))).toBe(reason);
    expect(mute.asked).toHaveLength(1);
    const later = new AbortController();
    const hanging = await startExecServer(() => later.abort(reason));
    expect(await failure(run(hanging.client(), { signal: later.signal }))).toBe(reason);
  });

  it('whose connection drops is an error, and no question of reaching the cluster', async () => {
    const half = JSON.stringify(endOf(0)).slice(0, 9);
    const scripts: Parameters<typeof startExecServer>[0][] = [
      ({ drop }) => drop(),
      ({ say, socket }) => {
        say(1, 'half');
        socket.close(1000);
      },
      ({ say, socket }) => {
        say(3, half);
        socket.close(1011);
      },
    ];
    for (const script of scripts) {
      const server = await startExecServer(script);
      const error = await failure(run(server.client()));
      expect(error).toBeInstanceOf(AnswerError);
      expect(failureOf(error, 'later')).toBe('error');
    }
  });

  it('because its container’s runtime fails is an ApiError with that Status', async () => {
    const status = { metadata: {}, status: 'Failure', message: 'no such file', reason: 'InternalError', code: 500 };
    const server = await startExecServer(({ say }) => say(3, JSON.stringify(status)));
    const error = await failure(run(server.client()));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 500, reason: 'InternalError' });
  });
});

describe('what can be seen of a command', () => {
  it('is neither its arguments nor a token, in errors and in requests', async () => {
    const requests: string[] = [];
    const refuse = (socket: Parameters<typeof answer>[0]) => answer(socket, 403, statusOf(403, 'Forbidden'));
    const server = await startExecServer(() => undefined, { refuse });
    const onRequest = (...given: unknown[]) => requests.push(given.slice(0, 3).join(' '));
    const client = server.client({ onRequest }, { token: async () => 'hunter2' });
    const call = exec(client, pod, { container: 'c', command: ['cli', 'hunter3'] });
    expect(String(await failure(call))).not.toMatch(/hunter/);
    expect(requests).toEqual([`GET ${path} 403`]);
  });
});
