import { usageRoutes } from '../contract/usage.ts';
import type { Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { notReady } from './not-ready.ts';

type Names = keyof typeof usageRoutes | 'GET /checks';

export const usageHandlers = (_services: ApiServices): Handlers<Names> =>
  notReady([...(Object.keys(usageRoutes) as (keyof typeof usageRoutes)[]), 'GET /checks']);
