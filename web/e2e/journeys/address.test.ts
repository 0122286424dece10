import { expect, inject, test } from "vitest";
import { newest } from "../lib/ask";
import { withBrowser } from "../lib/browser";

const { open } = withBrowser();

test("the address holds what is shown: reload, back and forward bring it again", async () => {
  const run = await newest("flow:daily-recon state:succeeded");
  const page = await open(`/runs/${run}`);
  await page.getByRole("button", { name: /^report: / }).click();
  await page.waitForURL(/stage=report/);
  await page.getByRole("tab", { name: "Stages" }).click();
  await page.waitForURL(/view=table/);
  await page.reload();
  const current = page.locator("[role=row][aria-current]");
  await current.getByText("report").first().waitFor();
  await page.goBack();
  await page.getByRole("button", { name: /^report: / }).waitFor();
  await page.goForward();
  await current.waitFor();
});

test("a search is in the address, and an impossible one says what is allowed", async () => {
  const page = await open("/runs?q=flow:billing", { allow: /4\d\d/ });
  await page.getByRole("row", { name: /billing/ }).first().waitFor();
  const box = page.getByRole("combobox").first();
  await box.fill("state:sleeping");
  await box.press("Enter");
  await page.waitForURL(/q=state:sleeping/);
  await page.getByText(/sleeping/).first().waitFor();
});

test("what does not exist says so", async () => {
  const page = await open("/runs/01a229ff-0000-7000-8000-000000000000", { allow: /404/ });
  await page.getByText(/no run|not found|there is no/i).first().waitFor();
  await page.goto(`${inject("base")}/no/such/page`);
  await page.getByText("There is no such page").waitFor();
});

test("the first load is small, and nothing comes from elsewhere", async () => {
  const page = await open("/nothing");
  let bytes = 0;
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Network.enable");
  await cdp.send("Network.setCacheDisabled", { cacheDisabled: true });
  cdp.on("Network.loadingFinished", (e) => (bytes += e.encodedDataLength));
  await page.goto(`${inject("base")}/`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.waitForLoadState("networkidle").catch(() => {});
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(300_000);
});
