import type { operatorRoutes } from '../contract/operator.ts';
import type { Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { accountHandlers } from './accounts.ts';
import { catalogHandlers } from './catalog.ts';
import { planHandlers } from './plans.ts';

type Names = Exclude<keyof typeof operatorRoutes, `${string}/upstreams${string}` | 'GET /checks'>;

/** What only the operator asks, and the catalog; members, tokens and audit have both kinds in one place. */
export const operatorHandlers = (services: ApiServices) =>
  ({
    ...accountHandlers(services),
    ...planHandlers(services),
    ...catalogHandlers(services),
  }) satisfies Handlers<Names>;
