import { expect, it } from 'vitest';
import { houseKey } from '../access/key-record.ts';
import { Visit } from '../access/visit.ts';
import { SubmissionLog } from '../observe/submission-log.ts';
import type { Asker, Call, CallAttempt, CallTrace } from '../protocol/call.ts';
import { nowhere } from '../protocol/client-at.ts';
import { methods } from '../protocol/methods.ts';
import { putFor } from './ask-for.ts';

const wire = Buffer.concat([Buffer.from([1]), Buffer.alloc(64, 7), Buffer.alloc(40)]);
const attempt = (node: string): CallAttempt => ({ node, startedAt: 1, endedAt: 2, outcome: 'ok' });

/** A transaction that is sent for a key, to a source that does nothing by itself. */
function send(trace: CallTrace) {
  const submissions = new SubmissionLog();
  const visit = new Visit(nowhere);
  visit.key = { ...houseKey, id: '7hQ2mKpZ' } as NonNullable<Visit['key']>;
  const params = Buffer.from(JSON.stringify([wire.toString('base64'), { encoding: 'base64' }]));
  const call: Call = {
    network: 'devnet',
    method: 'sendTransaction',
    row: methods.sendTransaction,
    params,
    trace,
  };
  let asked: { call: Call; asker: Asker } | null = null;
  const put = (one: Call, asker: Asker) => {
    asked = { call: one, asker };
    return { leave: () => {} };
  };
  const answered: number[] = [];
  const asker: Asker = { answered: ({ errorCode }) => answered.push(errorCode), failed: () => {} };
  putFor({ put, ask: () => Promise.reject(new Error('asked by put')) }, submissions, visit, call, asker);
  return { submissions, asked: asked!, answered } as {
    submissions: SubmissionLog;
    asked: { call: Call; asker: Asker };
    answered: number[];
  };
}

it('keeps what becomes of a transaction after the answer, of which the request hears nothing', () => {
  const heard: string[] = [];
  const { submissions, asked, answered } = send({ attempted: ({ node }) => heard.push(node) });
  const trace = asked.call.trace!;
  trace.attempted(attempt('a'));
  asked.asker.answered({ body: Buffer.from('"x"'), errorCode: 0 });
  expect([answered, submissions.drain().map(({ fate }) => fate)]).toEqual([[0], [null]]);
  trace.attempted(attempt('b'));
  const fate = { name: 'expired', slot: null, err: null, rebroadcasts: 5, again: [] } as const;
  trace.followed!(fate);
  const [kept, ...more] = submissions.drain();
  expect([kept?.fate, kept?.attempts.map(({ node }) => node), more]).toEqual([fate, ['a', 'b'], []]);
  expect(heard).toEqual(['a']);
});

it('keeps no more attempts than anybody would read', () => {
  const { submissions, asked } = send({ attempted: () => {} });
  for (let at = 0; at < 1_000; at++) asked.call.trace!.attempted(attempt('a'));
  asked.asker.answered({ body: Buffer.from('"x"'), errorCode: 0 });
  expect(submissions.drain()[0]?.attempts).toHaveLength(100);
});
