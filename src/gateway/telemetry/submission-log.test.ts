import { expect, it } from 'vitest';
import { internalKey } from '../../../test/project/callers.ts';
import type { Call, CallTrace, ResponseHandler, RpcResponse } from '../../protocol/call.ts';
import { unknownClient } from '../../protocol/client-info.ts';
import type { CallAttempt } from '../../protocol/errors.ts';
import { methods } from '../../protocol/methods.ts';
import { RequestContext } from '../metering/call-meter.ts';
import { forwardCall, SubmissionLog } from './submission-log.ts';

const wire = Buffer.concat([Buffer.from([1]), Buffer.alloc(64, 7), Buffer.alloc(40)]);
const attempt = (node: string): CallAttempt => ({ node, startedAt: 1, endedAt: 2, outcome: 'ok' });

function send(trace: CallTrace) {
  const submissions = new SubmissionLog();
  const context = new RequestContext(unknownClient);
  context.key = { ...internalKey, id: '7hQ2mKpZ' } as NonNullable<RequestContext['key']>;
  const params = Buffer.from(JSON.stringify([wire.toString('base64'), { encoding: 'base64' }]));
  const call: Call = {
    network: 'devnet',
    method: 'sendTransaction',
    row: methods.sendTransaction,
    params,
    trace,
  };
  const forwarded: { call: Call; handler: ResponseHandler }[] = [];
  const dispatch = (call: Call, handler: ResponseHandler) => {
    forwarded.push({ call, handler });
    return { cancel: () => {} };
  };
  const responses: number[] = [];
  const onResponse = ({ errorCode }: RpcResponse) => responses.push(errorCode);
  forwardCall({ dispatch }, submissions, context.key, call, { onResponse, onError: () => {} });
  return { submissions, forwarded: forwarded[0]!, responses };
}

it('records the result of a transaction after the response, without tracing it to the request', () => {
  const traced: string[] = [];
  const { submissions, forwarded, responses } = send({ onAttempt: ({ node }) => traced.push(node) });
  const trace = forwarded.call.trace!;
  trace.onAttempt(attempt('a'));
  forwarded.handler.onResponse({ body: Buffer.from('"x"'), errorCode: 0 });
  expect([responses, submissions.drain().map(({ result }) => result)]).toEqual([[0], [null]]);
  trace.onAttempt(attempt('b'));
  const result = {
    status: 'expired',
    slot: null,
    err: null,
    rebroadcasts: 5,
    rebroadcastAttempts: [],
  } as const;
  trace.onSubmissionEnd!(result);
  const [submission, ...more] = submissions.drain();
  expect([submission?.result, submission?.attempts.map(({ node }) => node), more]).toEqual([
    result,
    ['a', 'b'],
    [],
  ]);
  expect(traced).toEqual(['a']);
});

it('records at most 100 attempts of a submission', () => {
  const { submissions, forwarded } = send({ onAttempt: () => {} });
  for (let at = 0; at < 1_000; at++) forwarded.call.trace!.onAttempt(attempt('a'));
  forwarded.handler.onResponse({ body: Buffer.from('"x"'), errorCode: 0 });
  expect(submissions.drain()[0]?.attempts).toHaveLength(100);
});
