import type { Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { notReady } from './not-ready.ts';

const names = [
  'GET /customers/{customer}/notices',
  'POST /customers/{customer}/notices',
  'POST /customers/{customer}/notices/{notice}/test',
  'DELETE /customers/{customer}/notices/{notice}',
] as const;

export const noticeHandlers = (_services: ApiServices): Handlers<(typeof names)[number]> => notReady(names);
