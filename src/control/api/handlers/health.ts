import { readProblems, readSpentQuotas } from '../../health/read-problems.ts';
import { defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';

export const healthHandlers = ({ store, now }: ApiServices) =>
  defineHandlers({
    async 'GET /problems'() {
      const { problems, gatewayIds } = await readProblems(store, now());
      return { problems, gateways: gatewayIds.length };
    },
    'GET /customers/{customer}/problems': async ({ path }) => ({
      problems: await readSpentQuotas(store, now(), path.customer),
      gateways: 0,
    }),
  });
