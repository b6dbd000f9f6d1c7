import { describe, expect, test } from "bun:test";
import { contactsOf, type StatedContact } from "../../../../src/import/formats/grants-gov/contacts.ts";

const stated = (fields: Partial<StatedContact>): StatedContact => ({ name: "", email: "", phone: "", text: "", ...fields });
/** Name, address and telephone number of each contact. */
const listed = (fields: Partial<StatedContact>) => contactsOf(stated(fields)).map(({ name, email, phone }) => [name, email, phone]);

describe("contactsOf() the text of a real extract", () => {
  test.each<[text: string, email: string, contacts: (string | null)[][]]>([
    ["RACHEL MILLER<br/>rachelmiller@usgs.gov", "rachelmiller@usgs.gov", [["RACHEL MILLER", "rachelmiller@usgs.gov", null]]],
    [
      "Pamela Iverson <br/>Grants Specialist <br/>Phone 907-753-2555",
      "pamela.iverson@usace.army.mil",
      [["Pamela Iverson, Grants Specialist", "pamela.iverson@usace.army.mil", "907-753-2555"]],
    ],
    [
      "Rina Studds <br/>rina.studds@noaa.gov <br/>(301) 427-8651 <br/> <br/>Julie Simmons <br/>julie.simmons@noaa.gov <br/>(734) 680-5671",
      "rina.studds@noaa.gov; julie.simmons@noaa.gov",
      [
        ["Rina Studds", "rina.studds@noaa.gov", "(301) 427-8651"],
        ["Julie Simmons", "julie.simmons@noaa.gov", "(734) 680-5671"],
      ],
    ],
    [
      "Pablo Saz Parkinson <br/>Telephone: (831) 226-9582 <br/>Email: pablo.sazparkinson@nasa.gov <br/>POC concerning Data Archive issues: " +
        "<br/>Hashima Hasan <br/>Telephone: (202) 358-0692 <br/>Email: hashima.hasan@nasa.gov",
      "pablo.sazparkinson@nasa.gov",
      [
        ["Pablo Saz Parkinson", "pablo.sazparkinson@nasa.gov", "(831) 226-9582"],
        ["POC concerning Data Archive issues: Hashima Hasan", "hashima.hasan@nasa.gov", "(202) 358-0692"],
      ],
    ],
    [
      "Jamie Favors <br/>Email: james.e.favors@nasa.gov <br/>and <br/>Esayas Shume <br/>Email: esayas.b.shume@nasa.gov",
      "james.e.favors@nasa.gov",
      [
        ["Jamie Favors", "james.e.favors@nasa.gov", null],
        ["Esayas Shume", "esayas.b.shume@nasa.gov", null],
      ],
    ],
    [
      "Name: Curt Alt <br/>Email Address: curt.alt@usda.gov <br/>Phone Number: (202) 690&#8211;4784",
      "curt.alt@usda.gov",
      [["Name: Curt Alt", "curt.alt@usda.gov", "(202) 690–4784"]],
    ],
    [
      "Primary: Mr. Kazuhito Urano, 374 CONS/PKS, Phone Number: 011-81-42-530-5846, E-mail: kazuhito.urano.jp@us.af.mil <br/>Alternate: " +
        "Mr. Joshua B. Grubb, 374 CONS/PKS, Phone Number: 011-81-42-552-2510 Ext 57499, E-mail: joshua.grubb@us.af.mil",
      "374CONS.PKS.RD@us.af.mil",
      [
        [null, "374CONS.PKS.RD@us.af.mil", null],
        ["Primary: Mr. Kazuhito Urano, 374 CONS/PKS", "kazuhito.urano.jp@us.af.mil", "011-81-42-530-5846"],
        ["Alternate: Mr. Joshua B. Grubb, 374 CONS/PKS", "joshua.grubb@us.af.mil", "011-81-42-552-2510 Ext 57499"],
      ],
    ],
    [
      "For assistance with the requirements of this NOFO email OVW at OVW.TribalCoalitions@usdoj.gov. Alternately, interested parties may " +
        "call OVW at 202-307-6026.<br/>OVW.TribalCoalitions@usdoj.gov",
      "OVW.TribalCoalitions@usdoj.gov",
      [
        [
          "For assistance with the requirements of this NOFO email OVW at OVW.TribalCoalitions@usdoj.gov. Alternately, interested parties may " +
            "call OVW at 202-307-6026.",
          "OVW.TribalCoalitions@usdoj.gov",
          "202-307-6026",
        ],
      ],
    ],
    ["Public Diplomacy US Emb San Salvador", "", [["Public Diplomacy US Emb San Salvador", null, null]]],
    ["N/A", "N/A", []],
  ])("%p", (text, email, contacts) => {
    expect(listed({ text, email })).toEqual(contacts);
  });
});

describe("contactsOf() the details of the API", () => {
  test("are those of the extract, which has the same lines in one text", () => {
    const email = "pamela.iverson@usace.army.mil";
    const extract = { email, text: "Pamela Iverson <br/>Grants Specialist <br/>Phone 907-753-2555" };
    const lines = "Pamela Iverson\r\nGrants Specialist\r\nPhone 907-753-2555";
    const details = { email, name: "Pamela Iverson\nGrants Specialist", phone: "907-753-2555", text: lines };
    expect(contactsOf(stated(details))).toEqual(contactsOf(stated(extract)));
    expect(contactsOf(stated({ ...details, text: "" }))).toEqual(contactsOf(stated(extract)));
  });

  test("keep a person who is not in the text", () => {
    const text = "Craig Reid\t(240) 533-0783\r\n1305 East West Highway\r\nSilver Spring, MD 20910";
    const name = "Frederick L Isaac\nGrants Management Specialist";
    expect(listed({ text, name, email: "craig.a.reid@noaa.gov", phone: "30-628-1330" })).toEqual([
      ["Craig Reid (240) 533-0783, 1305 East West Highway, Silver Spring, MD 20910", "craig.a.reid@noaa.gov", "(240) 533-0783"],
      ["Frederick L Isaac, Grants Management Specialist", null, "30-628-1330"],
    ]);
  });
});
