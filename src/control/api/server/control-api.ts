import { randomUUID } from 'node:crypto';
import type { Logger } from '../../../base/log.ts';
import { withChangeCheck } from '../../database/transaction.ts';
import type { ContractName, RouteInput, RouteOutput } from '../contract/contract.ts';
import { routeOf } from '../contract/contract.ts';
import type { ApiCaller, ApiContext, Handler, Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { authorize, checkStillAuthorized } from './authorize.ts';
import { parseRouteInput, type RawRouteInput } from './read-request.ts';

/** Who asks and from where, before it is known whether they may. */
export type ApiRequest = Omit<ApiContext, 'role' | 'actor'>;

export type ControlApiParts = Readonly<{
  services: ApiServices;
  handlers: Handlers;
  log: Logger;
  /** Holds every answer against the contract, which has every member that may be given out: for tests. */
  validatesOutput?: boolean;
}>;

/** Who did something, as the audit log names them. */
export function actorOf(caller: ApiCaller): string {
  if (caller.kind === 'user') return `user:${caller.email}`;
  if (caller.kind === 'token') return `token:${caller.tokenId}`;
  return caller.kind === 'local' ? `cli:${caller.name}` : 'nobody';
}

/** An answer that is not as the contract has it; only tests look. */
class ContractViolationError extends Error {}

/**
 * The control API without its wire: every question, whoever asks it and from where, goes through here.
 */
export class ControlApi {
  readonly services: ApiServices;
  readonly log: Logger;
  readonly #handlers: Handlers;
  readonly #validatesOutput: boolean;

  constructor({ services, handlers, log, validatesOutput = false }: ControlApiParts) {
    this.services = services;
    this.log = log;
    this.#handlers = handlers;
    this.#validatesOutput = validatesOutput;
  }

  /**
   * Asks a route: whether the caller may, whether the question is as the contract has it, then whoever answers it.
   * @throws ApiError for what the caller can mend; anything else is ours.
   */
  async dispatch<Name extends ContractName>(
    name: Name,
    raw: RawRouteInput,
    request: ApiRequest,
  ): Promise<RouteOutput<Name>> {
    const { role, given } = await this.#authorizeAndParse(name, raw, request.caller);
    const handler: Handler<Name> = this.#handlers[name];
    const context = { ...request, role, actor: actorOf(request.caller) };
    const output = await withChangeCheck(
      (trx) => checkStillAuthorized(trx, name, raw.path, { ...context, now: this.services.now() }),
      () => handler(given, context),
    );
    if (this.#validatesOutput) validateOutput(name, output);
    return output;
  }

  /**
   * Whether a question would be put to whoever answers it, who is not asked.
   * @throws ApiError where the caller may not ask it, or it is not as the contract has it; the driver's error.
   */
  async check(name: ContractName, raw: RawRouteInput, caller: ApiCaller): Promise<void> {
    await this.#authorizeAndParse(name, raw, caller);
  }

  async #authorizeAndParse<Name extends ContractName>(name: Name, raw: RawRouteInput, caller: ApiCaller) {
    const role = await authorize(this.services.store.db, name, raw.path, caller);
    return { role, given: parseRouteInput(name, raw) };
  }

  /**
   * Whether who was answered once still may ask: for answers that go on.
   * @throws ApiError as `ask` does; the driver's error.
   */
  async checkStill(name: ContractName, raw: RawRouteInput, caller: ApiCaller): Promise<void> {
    await authorize(this.services.store.db, name, raw.path, caller);
  }

  /** Asks as a program on the machine that holds the store. */
  call<Name extends ContractName>(
    name: Name,
    input: RouteInput<Name>,
    actorName: string,
  ): Promise<RouteOutput<Name>> {
    const { path = {}, query = {}, body } = input as Partial<RawRouteInput>;
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    return this.dispatch(
      name,
      {
        path,
        query: Object.fromEntries(given),
        body: body === undefined ? undefined : structuredClone(body),
      },
      {
        caller: { kind: 'local', name: actorName },
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

function validateOutput(name: ContractName, answer: unknown): void {
  const { result } = routeOf(name);
  if (result === undefined) return;
  const parsed = result.safeParse(answer);
  if (!parsed.success)
    throw new ContractViolationError(
      `${name} answers what the contract does not have: ${parsed.error.message}`,
    );
  const unknown = unknownMember(answer, parsed.data, '');
  if (unknown !== null)
    throw new ContractViolationError(`${name} gives out ${unknown}, which the contract does not have`);
}

/** Where a value has a member that its schema left out, since it knows none of that name; null where nowhere. */
function unknownMember(given: unknown, parsedValue: unknown, at: string): string | null {
  if (typeof given !== 'object' || given === null) return null;
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const path = at === '' ? name : `${at}.${name}`;
    if (typeof parsedValue !== 'object' || parsedValue === null || !Object.hasOwn(parsedValue, name))
      return path;
    const deeper = unknownMember(value, Reflect.get(parsedValue, name), path);
    if (deeper !== null) return deeper;
  }
  return null;
}
