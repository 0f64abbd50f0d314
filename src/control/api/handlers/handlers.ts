import type { accountRoutes } from '../contract/accounts.ts';
import type { operatorRoutes } from '../contract/operator.ts';
import type { Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { auditHandlers } from './audit.ts';
import { catalogHandlers, reloadHandlers } from './catalog.ts';
import { customerHandlers } from './customers.ts';
import { invitationHandlers } from './invitations.ts';
import { keyHandlers } from './keys.ts';
import { logHandlers } from './logs.ts';
import { meHandlers } from './me.ts';
import { memberHandlers } from './members.ts';
import { addedNodeHandlers, upstreamHandlers } from './nodes.ts';
import { noticeHandlers } from './notices.ts';
import { planHandlers } from './plans.ts';
import { tokenHandlers } from './tokens.ts';
import { usageHandlers } from './usage.ts';

/** Handlers of all routes; a missing one is a compile error. */
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

type OperatorRoutes = Exclude<keyof typeof operatorRoutes, `${string}/upstreams${string}` | 'GET /checks'>;

const operatorHandlers = (services: ApiServices) =>
  ({
    ...accountHandlers(services),
    ...planHandlers(services),
    ...catalogHandlers(services),
  }) satisfies Handlers<OperatorRoutes>;

type AccountRoutes = Exclude<keyof typeof accountRoutes, `${string}/notices${string}`>;

const accountHandlers = (services: ApiServices) =>
  ({
    ...meHandlers(services),
    ...customerHandlers(services),
    ...memberHandlers(services),
    ...invitationHandlers(services),
    ...tokenHandlers(services),
    ...auditHandlers(services),
  }) satisfies Handlers<AccountRoutes>;
