import type { accountRoutes } from '../contract/accounts.ts';
import type { Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { meHandlers } from './me.ts';
import { notReady } from './not-ready.ts';

type Names = Exclude<keyof typeof accountRoutes, `${string}/notices${string}`>;

export const accountHandlers = (services: ApiServices): Handlers<Names> => ({
  ...notReady<Exclude<Names, 'GET /me'>>([
    'POST /customers',
    'GET /customers/{customer}',
    'PATCH /customers/{customer}',
    'GET /customers/{customer}/members',
    'POST /customers/{customer}/invitations',
    'DELETE /customers/{customer}/invitations/{invitation}',
    'POST /invitations/look',
    'POST /invitations/accept',
    'PATCH /customers/{customer}/members/{user}',
    'DELETE /customers/{customer}/members/{user}',
    'GET /customers/{customer}/audit',
    'GET /customers/{customer}/audit.jsonl',
    'GET /customers/{customer}/tokens',
    'POST /customers/{customer}/tokens',
    'DELETE /customers/{customer}/tokens/{token}',
  ]),
  ...meHandlers(services),
});
