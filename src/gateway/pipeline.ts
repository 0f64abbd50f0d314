import type { KeyDirectory } from '../access/key-directory.ts';
import type { Failure } from '../protocol/errors.ts';
import type { Product } from '../protocol/product.ts';
import type { Door } from '../protocol/serve.ts';
import { type CallParts, createAnswerCall } from './answer-call.ts';
import { explain, statusOf } from './outcome.ts';

/** What a request meets on its way. */
export type PipelineParts = CallParts & Readonly<{ keys: KeyDirectory }>;

/**
 * The way of a request: authenticate, limit, route, forward, meter. Every dialect of single requests calls it,
 * once per call; it never rejects. Before it stands the look at the key alone, for what has not arrived yet.
 */
export function createPipeline(parts: PipelineParts): Door {
  const { keys, usage, log } = parts;
  const answerCall = createAnswerCall(parts);

  function admit(credential: string | null, product: Product): Failure | null {
    const startedAt = performance.now();
    try {
      keys.authenticate(credential, product, Date.now());
      return null;
    } catch (thrown) {
      const failure = explain(thrown);
      if (failure.code === 'INTERNAL') log.error({ err: failure.cause }, 'a look at a key went wrong');
      const latencyMicros = (performance.now() - startedAt) * 1000;
      usage.record({ ...stranger, product, status: statusOf(null, failure), latencyMicros }, Date.now());
      return failure;
    }
  }

  return {
    admit,
    serve: (request, signal) =>
      answerCall(() => keys.authenticate(request.credential, request.product, Date.now()), request, signal),
  };
}

/** A request of which nothing but the key was looked at: nobody's, for no method, of no bytes. */
const stranger = { key: null, method: '', bytesIn: 0, bytesOut: 0, credits: 0 } as const;
