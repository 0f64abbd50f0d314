import { randomUUID } from 'node:crypto';
import type { Logger } from '../../../base/log.ts';
import { withPermissionRecheck } from '../../database/transaction.ts';
import { type ContractName, type RouteInput, type RouteOutput, routeOf } from '../contract/contract.ts';
import type { ApiCaller, ApiContext, Handler, Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { assertRightsUnchanged, authorize } from './authorize.ts';
import { parseRouteInput, type RawRouteInput } from './read-request.ts';

/** A request before authorization. */
export type ApiRequest = Omit<ApiContext, 'role' | 'actor'>;

export type ControlApiParts = Readonly<{
  services: ApiServices;
  handlers: Handlers;
  log: Logger;
  /** Validates responses against the contract; for tests. */
  validatesOutput?: boolean;
}>;

/** Actor name for the audit log. */
export function actorOf(caller: ApiCaller): string {
  if (caller.kind === 'user') return `user:${caller.email}`;
  if (caller.kind === 'token') return `token:${caller.tokenId}`;
  return caller.kind === 'local' ? `cli:${caller.name}` : 'nobody';
}

/** A response that violates the contract; checked in tests only. */
class ContractViolationError extends Error {}

/** The control API independent of the transport. */
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
   * Authorizes, validates and handles a request.
   * @throws ApiError for client errors.
   */
  async dispatch<Name extends ContractName>(
    name: Name,
    raw: RawRouteInput,
    request: ApiRequest,
  ): Promise<RouteOutput<Name>> {
    const { role, input } = await this.#authorizeAndParse(name, raw, request.caller);
    const handler: Handler<Name> = this.#handlers[name];
    const context = { ...request, role, actor: actorOf(request.caller) };
    const output = await withPermissionRecheck(
      (trx) => assertRightsUnchanged(trx, name, raw.path, { ...context, now: this.services.now() }),
      () => handler(input, context),
    );
    if (this.#validatesOutput) validateOutput(name, output);
    return output;
  }

  /**
   * Authorizes and validates a request without handling it.
   * @throws ApiError as `dispatch`; the driver's error.
   */
  async check(name: ContractName, raw: RawRouteInput, caller: ApiCaller): Promise<void> {
    await this.#authorizeAndParse(name, raw, caller);
  }

  async #authorizeAndParse<Name extends ContractName>(name: Name, raw: RawRouteInput, caller: ApiCaller) {
    const role = await authorize(this.services.store.db, name, raw.path, caller);
    return { role, input: parseRouteInput(name, raw) };
  }

  /**
   * Repeats the authorization for a long-lived response.
   * @throws ApiError as `dispatch`; the driver's error.
   */
  async reauthorize(name: ContractName, raw: RawRouteInput, caller: ApiCaller): Promise<void> {
    await authorize(this.services.store.db, name, raw.path, caller);
  }

  /** Calls a route as a local program with access to the store. */
  call<Name extends ContractName>(
    name: Name,
    input: RouteInput<Name>,
    actorName: string,
  ): Promise<RouteOutput<Name>> {
    const { path = {}, query = {}, body } = input as Partial<RawRouteInput>;
    const definedQuery = Object.entries(query).filter(([, value]) => value !== undefined);
    return this.dispatch(
      name,
      {
        path,
        query: Object.fromEntries(definedQuery),
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

function validateOutput(name: ContractName, output: unknown): void {
  const { result } = routeOf(name);
  if (result === undefined) return;
  const parsed = result.safeParse(output);
  if (!parsed.success)
    throw new ContractViolationError(
      `the response of ${name} violates the contract: ${parsed.error.message}`,
    );
  const unknown = unknownMember(output, parsed.data, '');
  if (unknown !== null)
    throw new ContractViolationError(
      `the response of ${name} contains ${unknown}, which is not in the contract`,
    );
}

/** Path of the first member that the schema does not declare; null if there is none. */
function unknownMember(value: unknown, parsedValue: unknown, at: string): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const path = at === '' ? name : `${at}.${name}`;
    if (typeof parsedValue !== 'object' || parsedValue === null || !Object.hasOwn(parsedValue, name))
      return path;
    const deeper = unknownMember(member, Reflect.get(parsedValue, name), path);
    if (deeper !== null) return deeper;
  }
  return null;
}
