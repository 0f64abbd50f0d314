import type { Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { addedNodeHandlers } from './added-nodes.ts';
import { keyHandlers } from './keys.ts';
import { logHandlers } from './logs.ts';
import { noticeHandlers } from './notices.ts';
import { operatorHandlers } from './operator.ts';
import { reloadHandlers } from './reload.ts';
import { upstreamHandlers } from './upstreams.ts';
import { usageHandlers } from './usage.ts';

/** Whoever answers each route of the contract: complete, or it does not compile. */
export const buildHandlers = (services: ApiServices) =>
  ({
    ...noticeHandlers(services),
    ...keyHandlers(services),
    ...usageHandlers(services),
    ...logHandlers(services),
    ...upstreamHandlers(services),
    ...addedNodeHandlers(services),
    ...reloadHandlers(services),
    ...operatorHandlers(services),
  }) satisfies Handlers;
