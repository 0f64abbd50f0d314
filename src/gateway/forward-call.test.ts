import { expect, it } from 'vitest';
import type { Call, CallAttempt, CallTrace, ResponseHandler } from '../protocol/call.ts';
import { unknownClient } from '../protocol/client-info.ts';
import { methods } from '../protocol/methods.ts';
import { internalKey } from './auth/key-record.ts';
import { forwardCall } from './forward-call.ts';
import { RequestContext } from './request-context.ts';
import { SubmissionLog } from './telemetry/submission-log.ts';

const wire = Buffer.concat([Buffer.from([1]), Buffer.alloc(64, 7), Buffer.alloc(40)]);
const attempt = (node: string): CallAttempt => ({ node, startedAt: 1, endedAt: 2, outcome: 'ok' });

/** A transaction that is sent for a key, to a source that does nothing by itself. */
function send(trace: CallTrace) {
  const submissions = new SubmissionLog();
  const visit = new RequestContext(unknownClient);
  visit.key = { ...internalKey, id: '7hQ2mKpZ' } as NonNullable<RequestContext['key']>;
  const params = Buffer.from(JSON.stringify([wire.toString('base64'), { encoding: 'base64' }]));
  const call: Call = {
    network: 'devnet',
    method: 'sendTransaction',
    row: methods.sendTransaction,
    params,
    trace,
  };
  let asked: { call: Call; asker: ResponseHandler } | null = null;
  const put = (one: Call, asker: ResponseHandler) => {
    asked = { call: one, asker };
    return { cancel: () => {} };
  };
  const answered: number[] = [];
  const asker: ResponseHandler = {
    onResponse: ({ errorCode }) => answered.push(errorCode),
    onError: () => {},
  };
  forwardCall({ dispatch: put }, submissions, visit, call, asker);
  return { submissions, asked: asked!, answered } as {
    submissions: SubmissionLog;
    asked: { call: Call; asker: ResponseHandler };
    answered: number[];
  };
}

it('keeps what becomes of a transaction after the answer, of which the request hears nothing', () => {
  const heard: string[] = [];
  const { submissions, asked, answered } = send({ onAttempt: ({ node }) => heard.push(node) });
  const trace = asked.call.trace!;
  trace.onAttempt(attempt('a'));
  asked.asker.onResponse({ body: Buffer.from('"x"'), errorCode: 0 });
  expect([answered, submissions.drain().map(({ result }) => result)]).toEqual([[0], [null]]);
  trace.onAttempt(attempt('b'));
  const fate = { name: 'expired', slot: null, err: null, rebroadcasts: 5, rebroadcastAttempts: [] } as const;
  trace.onSubmissionEnd!(fate);
  const [kept, ...more] = submissions.drain();
  expect([kept?.result, kept?.attempts.map(({ node }) => node), more]).toEqual([fate, ['a', 'b'], []]);
  expect(heard).toEqual(['a']);
});

it('keeps no more attempts than anybody would read', () => {
  const { submissions, asked } = send({ onAttempt: () => {} });
  for (let at = 0; at < 1_000; at++) asked.call.trace!.onAttempt(attempt('a'));
  asked.asker.onResponse({ body: Buffer.from('"x"'), errorCode: 0 });
  expect(submissions.drain()[0]?.attempts).toHaveLength(100);
});
