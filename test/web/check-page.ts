import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { seriousFaults } from './axe.ts';
import { saveScreenshot, settled, themes } from './browser.ts';

const WIDE = { width: 1360, height: 900 };
const PHONE = { width: 390, height: 844 };

/**
 * Holds a page as it is now against axe in both themes, against a phone's width, and keeps its pictures.
 * @param name - of the pictures: `home-dark.png`.
 */
export async function checkPage(page: Page, name: string): Promise<void> {
  await settled(page);
  for (const theme of themes) {
    await page.emulateMedia({ colorScheme: theme });
    await saveScreenshot(page, `${name}-${theme}`);
    expect(await seriousFaults(page), `${name}, ${theme}`).toEqual([]);
  }
  await page.setViewportSize(PHONE);
  await saveScreenshot(page, `${name}-phone`);
  const widest = await page.evaluate('document.documentElement.scrollWidth');
  await page.setViewportSize(WIDE);
  await page.emulateMedia({ colorScheme: 'light' });
  expect(widest, `${name} on a phone scrolls sideways`).toBeLessThanOrEqual(PHONE.width);
}
