import { readProblems, readSpentQuotas } from '../../health/read-problems.ts';
import { defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';

export const healthHandlers = ({ store, now }: ApiServices) =>
  defineHandlers({
    'GET /problems': () => readProblems(store, now()),
    'GET /customers/{customer}/problems': async ({ path }) => ({
      problems: await readSpentQuotas(store, now(), path.customer),
      gateways: 0,
    }),
  });
