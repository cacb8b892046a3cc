// The language that a reader chooses in one entry is shown in all entries, and on the next visit.
(() => {
  const tabs = document.querySelectorAll('.languages input');
  const choose = (language) => tabs.forEach((tab) => { if (tab.value === language) tab.checked = true; });
  tabs.forEach((tab) => tab.addEventListener('change', () => {
    choose(tab.value);
    localStorage.setItem('rushlight-language', tab.value);
  }));
  choose(localStorage.getItem('rushlight-language'));
})();
