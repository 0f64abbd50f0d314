import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../base/log.ts';
import { PACKAGE_ROOT } from '../base/package-root.ts';
import { dashboardRoutes } from '../servers/dashboard/routes.ts';
import type { HttpRoutes } from '../servers/http/routes.ts';

/** Output of `npm run build:web`. */
const DASHBOARD_DIR = join(PACKAGE_ROOT, 'web/dist');

export function buildDashboardRoutes(log: Logger): HttpRoutes {
  if (!existsSync(join(DASHBOARD_DIR, 'dashboard.html')))
    log.info('Dashboard not built: run npm run build:web');
  return dashboardRoutes(DASHBOARD_DIR);
}
