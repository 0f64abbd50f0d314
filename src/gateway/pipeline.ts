import type { KeyDirectory } from '../access/key-directory.ts';
import type { KeyRecord } from '../access/key-record.ts';
import type { RateDecision, RateLimiter } from '../access/rate-limit.ts';
import type { UsageMeter, UsageStatus } from '../access/usage.ts';
import type { Logger } from '../base/log.ts';
import type { Answer, Call, Source } from '../protocol/call.ts';
import { Failure } from '../protocol/errors.ts';
import { methodRow } from '../protocol/methods.ts';
import type { Product } from '../protocol/product.ts';
import type { Door, Outcome, Request } from '../protocol/serve.ts';

/** What a request meets on its way. */
export type PipelineParts = Readonly<{
  keys: KeyDirectory;
  limiter: RateLimiter;
  source: Source;
  usage: UsageMeter;
  log: Logger;
}>;

/**
 * The way of a request: authenticate, limit, route, forward, meter. Every dialect calls it, once per call; it
 * holds the only catch on the path and never rejects. Before it stands the look at the key alone, for what has
 * not arrived yet.
 */
export function createPipeline({ keys, limiter, source, usage, log }: PipelineParts): Door {
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

  async function serve(request: Request, signal?: AbortSignal): Promise<Outcome> {
    const startedAt = performance.now();
    let key: KeyRecord | null = null;
    let rate: RateDecision | null = null;
    let answer: Answer | null = null;
    let failure: Failure | null = null;
    const call = route(request);
    try {
      key = keys.authenticate(request.credential, request.product, Date.now());
      rate = limiter.take(key.familyId, key.limits, startedAt);
      if (rate !== null && !rate.allowed) throw limited(rate);
      answer = await source.ask(call, signal);
    } catch (thrown) {
      failure = explain(thrown);
      if (failure.code === 'INTERNAL') log.error({ err: failure.cause, keyId: key?.id }, 'a call went wrong');
    }
    usage.record(
      {
        key,
        product: request.product,
        method: request.method,
        status: statusOf(answer, failure),
        bytesIn: request.bytesIn,
        bytesOut: answer?.body.length ?? 0,
        credits: answer === null ? 0 : call.row.cost,
        latencyMicros: (performance.now() - startedAt) * 1000,
      },
      Date.now(),
    );
    const rateLimit = rate?.state ?? null;
    return failure === null && answer !== null
      ? { answer, failure: null, rateLimit }
      : { answer: null, failure: failure ?? new Failure('INTERNAL'), rateLimit };
  }

  return { admit, serve };
}

/** A request of which nothing but the key was looked at: nobody's, for no method, of no bytes. */
const stranger = { key: null, method: '', bytesIn: 0, bytesOut: 0, credits: 0 } as const;

const route = ({ network, method, params }: Request): Call => ({
  network,
  method,
  row: methodRow(method),
  params,
});

const limited = ({ state, retryAfter }: RateDecision): Failure =>
  new Failure('RATE_LIMITED', { facts: { ...state }, retryAfter });

/** The failure behind whatever was thrown; what is not a Failure is ours to mend and says nothing outside. */
const explain = (thrown: unknown): Failure =>
  thrown instanceof Failure ? thrown : new Failure('INTERNAL', { cause: thrown });

function statusOf(answer: Answer | null, failure: Failure | null): UsageStatus {
  if (failure !== null) return failure.row.limits ? 'limited' : failure.row.owner;
  return answer?.errorCode === 0 ? 'ok' : 'rpcError';
}
