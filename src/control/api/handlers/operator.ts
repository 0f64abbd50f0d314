import type { operatorRoutes } from '../contract/operator.ts';
import type { Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { notReady } from './not-ready.ts';

type Names = Exclude<keyof typeof operatorRoutes, `${string}/upstreams${string}` | 'GET /checks'>;

export const operatorHandlers = (_services: ApiServices): Handlers<Names> =>
  notReady<Names>([
    'GET /plans',
    'GET /customers',
    'POST /operators/invitations',
    'GET /audit',
    'GET /audit.jsonl',
    'GET /settings',
    'GET /tokens',
    'POST /tokens',
    'DELETE /tokens/{token}',
    'GET /methods',
  ]);
