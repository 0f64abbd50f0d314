import { randomUUID } from 'node:crypto';
import type { Logger } from '../../../base/log.ts';
import { withChangeCheck } from '../../database/change.ts';
import type { Answered, Asked, ContractName } from '../contract/contract.ts';
import { routeOf } from '../contract/contract.ts';
import type { ApiCaller, ApiContext, Handler, Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { authorize } from './authorize.ts';
import { type RawQuestion, readQuestion } from './question.ts';
import { checkStillAuthorized } from './still-authorized.ts';

/** Who asks and from where, before it is known whether they may. */
export type ApiRequest = Omit<ApiContext, 'role' | 'actor'>;

export type ControlApiParts = Readonly<{
  services: ApiServices;
  handlers: Handlers;
  log: Logger;
  /** Holds every answer against the contract, which has every member that may be given out: for tests. */
  checksAnswers?: boolean;
}>;

/** Who did something, as the audit log names them. */
export function actorOf(caller: ApiCaller): string {
  if (caller.kind === 'user') return `user:${caller.email}`;
  if (caller.kind === 'token') return `token:${caller.tokenId}`;
  return caller.kind === 'local' ? `cli:${caller.name}` : 'nobody';
}

/** An answer that is not as the contract has it; only tests look. */
class AnswerError extends Error {}

/**
 * The control API without its wire: every question, whoever asks it and from where, goes through here.
 */
export class ControlApi {
  readonly services: ApiServices;
  readonly log: Logger;
  readonly #handlers: Handlers;
  readonly #checksAnswers: boolean;

  constructor({ services, handlers, log, checksAnswers = false }: ControlApiParts) {
    this.services = services;
    this.log = log;
    this.#handlers = handlers;
    this.#checksAnswers = checksAnswers;
  }

  /**
   * Asks a route: whether the caller may, whether the question is as the contract has it, then whoever answers it.
   * @throws ApiError for what the caller can mend; anything else is ours.
   */
  async ask<Name extends ContractName>(
    name: Name,
    raw: RawQuestion,
    request: ApiRequest,
  ): Promise<Answered<Name>> {
    const { role, given } = await this.#admit(name, raw, request.caller);
    const handler: Handler<Name> = this.#handlers[name];
    const context = { ...request, role, actor: actorOf(request.caller) };
    const answer = await withChangeCheck(
      (trx) => checkStillAuthorized(trx, name, raw.path, { ...context, now: this.services.now() }),
      () => handler(given, context),
    );
    if (this.#checksAnswers) checkAnswer(name, answer);
    return answer;
  }

  /**
   * Whether a question would be put to whoever answers it, who is not asked.
   * @throws ApiError where the caller may not ask it, or it is not as the contract has it; the driver's error.
   */
  async check(name: ContractName, raw: RawQuestion, caller: ApiCaller): Promise<void> {
    await this.#admit(name, raw, caller);
  }

  async #admit<Name extends ContractName>(name: Name, raw: RawQuestion, caller: ApiCaller) {
    const role = await authorize(this.services.store.db, name, raw.path, caller);
    return { role, given: readQuestion(name, raw) };
  }

  /**
   * Whether who was answered once still may ask: for answers that go on.
   * @throws ApiError as `ask` does; the driver's error.
   */
  async checkStill(name: ContractName, raw: RawQuestion, caller: ApiCaller): Promise<void> {
    await authorize(this.services.store.db, name, raw.path, caller);
  }

  /** Asks as a program on the machine that holds the store. */
  call<Name extends ContractName>(name: Name, asked: Asked<Name>, who: string): Promise<Answered<Name>> {
    const { path = {}, query = {}, body } = asked as Partial<RawQuestion>;
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    return this.ask(
      name,
      {
        path,
        query: Object.fromEntries(given),
        body: body === undefined ? undefined : structuredClone(body),
      },
      {
        caller: { kind: 'local', name: who },
        address: null,
        userAgent: null,
        requestId: randomUUID(),
        rawBody: null,
        header: () => null,
        signal: new AbortController().signal,
      },
    );
  }
}

function checkAnswer(name: ContractName, answer: unknown): void {
  const { result } = routeOf(name);
  if (result === undefined) return;
  const parsed = result.safeParse(answer);
  if (!parsed.success)
    throw new AnswerError(`${name} answers what the contract does not have: ${parsed.error.message}`);
  const unknown = unknownMember(answer, parsed.data, '');
  if (unknown !== null)
    throw new AnswerError(`${name} gives out ${unknown}, which the contract does not have`);
}

/** Where a value has a member that its schema left out, since it knows none of that name; null where nowhere. */
function unknownMember(given: unknown, known: unknown, at: string): string | null {
  if (typeof given !== 'object' || given === null) return null;
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const path = at === '' ? name : `${at}.${name}`;
    if (typeof known !== 'object' || known === null || !Object.hasOwn(known, name)) return path;
    const deeper = unknownMember(value, Reflect.get(known, name), path);
    if (deeper !== null) return deeper;
  }
  return null;
}
