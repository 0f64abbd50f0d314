import { randomUUID } from 'node:crypto';
import type { Logger } from '../../../base/log.ts';
import { withPermissionRecheck } from '../../database/transaction.ts';
import type { ContractName, RawRouteInput, RouteInput, RouteOutput } from '../contract/contract.ts';
import type { ApiCaller, ApiContext, Handler, Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { assertRightsUnchanged, authorize } from './authorize.ts';
import { parseRouteInput } from './read-request.ts';

export type ApiRequest = Omit<ApiContext, 'role' | 'actor'>;

type ControlApiParts = Readonly<{ services: ApiServices; handlers: Handlers; log: Logger }>;

export function actorOf(caller: ApiCaller): string {
  if (caller.kind === 'user') return `user:${caller.email}`;
  if (caller.kind === 'token') return `token:${caller.tokenId}`;
  return caller.kind === 'local' ? `cli:${caller.name}` : 'nobody';
}

/** The control API, independent of the transport. */
export class ControlApi {
  readonly services: ApiServices;
  readonly log: Logger;
  readonly #handlers: Handlers;

  constructor({ services, handlers, log }: ControlApiParts) {
    this.services = services;
    this.log = log;
    this.#handlers = handlers;
  }

  /** @throws ApiError for client errors. */
  async dispatch<Name extends ContractName>(
    name: Name,
    raw: RawRouteInput,
    request: ApiRequest,
  ): Promise<RouteOutput<Name>> {
    const role = await authorize(this.services.store.db, name, raw.path, request.caller);
    const input = parseRouteInput(name, raw);
    const handler: Handler<Name> = this.#handlers[name];
    const context = { ...request, role, actor: actorOf(request.caller) };
    return withPermissionRecheck(
      (trx) => assertRightsUnchanged(trx, name, raw.path, { ...context, now: this.services.now() }),
      () => handler(input, context),
    );
  }

  /** Calls a route as a local program with access to the store. */
  call<Name extends ContractName>(
    name: Name,
    input: RouteInput<Name>,
    actorName: string,
  ): Promise<RouteOutput<Name>> {
    const { path = {}, query = {}, body } = input as Partial<RawRouteInput>;
    const definedQuery = Object.entries(query).filter(([, value]) => value !== undefined);
    const raw = { path, query: Object.fromEntries(definedQuery), body: structuredClone(body) };
    const request: ApiRequest = {
      caller: { kind: 'local', name: actorName },
      address: null,
      userAgent: null,
      requestId: randomUUID(),
      rawBody: null,
      header: () => null,
      signal: new AbortController().signal,
    };
    return this.dispatch(name, raw, request);
  }
}
