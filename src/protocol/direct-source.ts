import type { Answer, Asked, Asker, Call, DirectSource, Source } from './call.ts';
import { Failure } from './errors.ts';

/** A promise of what a call comes to. */
class Awaited implements Asker {
  readonly #settlers = Promise.withResolvers<Answer>();

  get answer(): Promise<Answer> {
    return this.#settlers.promise;
  }

  answered(answer: Answer): void {
    this.#settlers.resolve(answer);
  }

  failed(failure: Failure): void {
    this.#settlers.reject(failure);
  }
}

/** What `ask` is of a source that is asked by `put`. @throws Failure as `Source.ask`. */
export function askDirectly(
  source: Pick<DirectSource, 'put'>,
  call: Call,
  signal?: AbortSignal,
): Promise<Answer> {
  const awaited = new Awaited();
  const asked = source.put(call, awaited);
  if (signal === undefined) return awaited.answer;
  const leave = (): void => asked.leave();
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return awaited.answer.finally(() => signal.removeEventListener('abort', leave));
}

/** A source that knows promises only, asked by `put`. */
class Adapted implements DirectSource {
  readonly #source: Source;

  constructor(source: Source) {
    this.#source = source;
  }

  ask(call: Call, signal?: AbortSignal): Promise<Answer> {
    return this.#source.ask(call, signal);
  }

  put(call: Call, asker: Asker): Asked {
    const leaving = new AbortController();
    this.#source.ask(call, leaving.signal).then(
      (answer) => asker.answered(answer),
      (thrown: unknown) =>
        asker.failed(thrown instanceof Failure ? thrown : new Failure('INTERNAL', { cause: thrown })),
    );
    const { network } = call;
    return { leave: () => leaving.abort(new Failure('CLIENT_GONE', { facts: { network } })) };
  }
}

/** The same source, which can be asked by `put` whatever it is. */
export const asDirect = (source: Source): DirectSource =>
  'put' in source ? (source as DirectSource) : new Adapted(source);
