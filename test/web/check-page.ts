import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { seriousFaults } from './axe.ts';
import { settled } from './browser.ts';

const WIDE = { width: 1360, height: 900 };
const PHONE = { width: 390, height: 844 };

/** The contrast of a color cannot be measured during its transition to another theme. */
const END_ANIMATIONS = `
  for (const one of document.getAnimations()) if (one.effect.getComputedTiming().endTime < Infinity) one.finish()`;

/** Checks with axe that a page is accessible in both themes, and that it does not scroll sideways on a phone. */
export async function checkPage(page: Page, name: string): Promise<void> {
  await settled(page);
  await page.evaluate(END_ANIMATIONS);
  expect(await seriousFaults(page), name).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await page.evaluate(END_ANIMATIONS);
  expect(await seriousFaults(page, ['color-contrast']), `${name}, dark`).toEqual([]);
  await page.setViewportSize(PHONE);
  const widest = await page.evaluate('document.documentElement.scrollWidth');
  await page.setViewportSize(WIDE);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: null });
  expect(widest, `${name} on a phone scrolls sideways`).toBeLessThanOrEqual(PHONE.width);
}
