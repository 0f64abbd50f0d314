import type { Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { alertHandlers } from './alerts.ts';
import { auditHandlers } from './audit.ts';
import { billingHandlers } from './billing.ts';
import { catalogHandlers } from './catalog.ts';
import { customerHandlers } from './customers.ts';
import { healthHandlers } from './health.ts';
import { invitationHandlers } from './invitations.ts';
import { keyHandlers } from './keys.ts';
import { logHandlers } from './logs.ts';
import { meHandlers } from './me.ts';
import { memberHandlers } from './members.ts';
import { nodeHistoryHandlers } from './node-history.ts';
import { addedNodeHandlers, upstreamHandlers } from './nodes.ts';
import { noticeHandlers } from './notices.ts';
import { planChangeHandlers } from './plan-changes.ts';
import { planHandlers } from './plans.ts';
import { tokenHandlers } from './tokens.ts';
import { usageHandlers } from './usage.ts';
import { usageLinkHandlers } from './usage-links.ts';

/** Handlers of all routes. A missing handler is a compile error. */
export const buildHandlers = (services: ApiServices) =>
  ({
    ...meHandlers(services),
    ...customerHandlers(services),
    ...memberHandlers(services),
    ...invitationHandlers(services),
    ...tokenHandlers(services),
    ...auditHandlers(services),
    ...noticeHandlers(services),
    ...keyHandlers(services),
    ...usageHandlers(services),
    ...usageLinkHandlers(services),
    ...logHandlers(services),
    ...planHandlers(services),
    ...planChangeHandlers(services),
    ...billingHandlers(services),
    ...catalogHandlers(services),
    ...upstreamHandlers(services),
    ...addedNodeHandlers(services),
    ...nodeHistoryHandlers(services),
    ...healthHandlers(services),
    ...alertHandlers(services),
  }) satisfies Handlers;
