import { keyRoutes } from '../contract/keys.ts';
import type { Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { notReady } from './not-ready.ts';

type Names = Exclude<keyof typeof keyRoutes, 'DELETE /customers/{customer}/connections/{connection}'>;

export const keyHandlers = (_services: ApiServices): Handlers<Names> =>
  notReady(Object.keys(keyRoutes) as Names[]);
