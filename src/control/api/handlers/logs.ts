import { logRoutes } from '../contract/logs.ts';
import type { Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { notReady } from './not-ready.ts';

type Names =
  | keyof typeof logRoutes
  | 'DELETE /customers/{customer}/connections/{connection}'
  | 'GET /upstreams'
  | 'POST /upstreams/{node}/cordon'
  | 'POST /upstreams/{node}/uncordon';

export const logHandlers = (_services: ApiServices): Handlers<Names> =>
  notReady([
    ...(Object.keys(logRoutes) as (keyof typeof logRoutes)[]),
    'DELETE /customers/{customer}/connections/{connection}',
    'GET /upstreams',
    'POST /upstreams/{node}/cordon',
    'POST /upstreams/{node}/uncordon',
  ]);
