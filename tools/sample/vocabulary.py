"""The made-up business's words: names, places and goods."""

from __future__ import annotations

COUNTRIES = (
    ("DE", "Germany", "EUR"),
    ("FR", "France", "EUR"),
    ("NL", "Netherlands", "EUR"),
    ("IT", "Italy", "EUR"),
    ("DK", "Denmark", "DKK"),
    ("GB", "United Kingdom", "GBP"),
    ("ES", "Spain", "EUR"),
    ("CH", "Switzerland", "CHF"),
    ("TW", "Taiwan", "TWD"),
    ("JP", "Japan", "JPY"),
)

CITIES = {
    "DE": ("Berlin", "Hamburg", "Munich", "Cologne"),
    "FR": ("Paris", "Lyon", "Nantes", "Bordeaux"),
    "NL": ("Amsterdam", "Utrecht", "Rotterdam"),
    "IT": ("Milan", "Turin", "Bologna"),
    "DK": ("Copenhagen", "Aarhus"),
    "GB": ("London", "Bristol", "Edinburgh"),
    "ES": ("Barcelona", "Valencia"),
    "CH": ("Zurich", "Basel"),
}

STORES = (
    ("Kestrel Berlin", "Berlin", "DE"),
    ("Kestrel Hamburg", "Hamburg", "DE"),
    ("Kestrel Munich", "Munich", "DE"),
    ("Kestrel Paris", "Paris", "FR"),
    ("Kestrel Lyon", "Lyon", "FR"),
    ("Kestrel Amsterdam", "Amsterdam", "NL"),
    ("Kestrel Utrecht", "Utrecht", "NL"),
    ("Kestrel Milan", "Milan", "IT"),
    ("Kestrel Copenhagen", "Copenhagen", "DK"),
    ("Kestrel London", "London", "GB"),
    ("Kestrel Barcelona", "Barcelona", "ES"),
    ("Web Shop", "Berlin", "DE"),
)

FIRST_NAMES = (
    "Ada", "Amir", "Anneke", "Bruno", "Carla", "Chiara", "Daan", "Elif", "Emil", "Fatima", "Finn", "Giulia", "Hugo",
    "Ida", "Jonas", "Julie", "Karim", "Lars", "Lena", "Luca", "Maja", "Marta", "Mehmet", "Nina", "Noah", "Olga",
    "Pablo", "Priya", "Rosa", "Sanne", "Sofia", "Tariq", "Thea", "Tom", "Vera", "Yara", "Yusuf", "Zoe",
)  # fmt: skip

LAST_NAMES = (
    "Andersen", "Bakker", "Becker", "Bianchi", "Costa", "Da Silva", "De Vries", "Dubois", "Ferrari", "Fischer",
    "Garcia", "Hansen", "Jansen", "Kaya", "Keller", "Khan", "Larsen", "Laurent", "Lopez", "Martin", "Meyer", "Moreau",
    "Nielsen", "O'Brien", "Patel", "Petit", "Ricci", "Romano", "Schmidt", "Serrano", "Smith", "Taylor", "Visser",
    "Weber", "Wilson", "Yilmaz",
)  # fmt: skip

SUPPLIERS = (
    ("Alpenrad", "CH"), ("Brisa Componentes", "ES"), ("Canal Works", "NL"), ("Dromedar", "DE"), ("Fjordline", "DK"),
    ("Helios Optics", "FR"), ("Island Saddles", "GB"), ("Kumo Drivetrains", "JP"), ("Monte Verde", "IT"),
    ("Nordlicht", "DE"), ("Pelican Bags", "NL"), ("Strada Ruote", "IT"), ("Tailong Frames", "TW"),
    ("Yushan Carbon", "TW"),
)  # fmt: skip

CATEGORIES = (
    ("Bicycles", None),
    ("Components", None),
    ("Accessories", None),
    ("Clothing", None),
    ("City Bikes", "Bicycles"),
    ("Road Bikes", "Bicycles"),
    ("Mountain Bikes", "Bicycles"),
    ("E-Bikes", "Bicycles"),
    ("Cargo Bikes", "Bicycles"),
    ("Brakes", "Components"),
    ("Drivetrain", "Components"),
    ("Wheels", "Components"),
    ("Saddles", "Components"),
    ("Lights", "Accessories"),
    ("Locks", "Accessories"),
    ("Bags", "Accessories"),
    ("Helmets", "Accessories"),
    ("Jackets", "Clothing"),
    ("Gloves", "Clothing"),
)

GOODS = {
    "City Bikes": (("Heron", "Stork", "Plover", "Wagtail"), 450, 1_300, 16.0),
    "Road Bikes": (("Swift", "Merlin", "Falcon", "Hobby"), 900, 5_200, 8.5),
    "Mountain Bikes": (("Ibex", "Chamois", "Marmot", "Lynx"), 700, 4_300, 13.0),
    "E-Bikes": (("Volta", "Ampere", "Joule", "Tesla"), 1_900, 6_500, 23.0),
    "Cargo Bikes": (("Mule", "Ox", "Camel"), 2_200, 6_900, 34.0),
    "Brakes": (("Clamp", "Grip", "Anchor"), 25, 240, 0.4),
    "Drivetrain": (("Cadence", "Sprint", "Summit"), 35, 620, 0.9),
    "Wheels": (("Orbit", "Halo", "Vortex"), 80, 1_400, 1.6),
    "Saddles": (("Perch", "Roost"), 29, 190, 0.3),
    "Lights": (("Beacon", "Lantern", "Glow"), 15, 140, 0.2),
    "Locks": (("Fort", "Bastion", "Keep"), 19, 150, 1.4),
    "Bags": (("Satchel", "Pannier", "Pouch"), 24, 180, 0.7),
    "Helmets": (("Shell", "Crest", "Dome"), 39, 260, 0.3),
    "Jackets": (("Breeze", "Storm", "Cirrus"), 59, 280, 0.4),
    "Gloves": (("Thistle", "Moss"), 15, 75, 0.1),
}
"""Category to model names, lowest and highest price, and usual weight in kilograms."""

VARIANTS = ("One", "Two", "Pro", "Lite", "Max", "Urban", "Trail", "Classic")

TAGS = (
    "bestseller",
    "new",
    "sale",
    "vegan",
    "made in Europe",
    "carbon",
    "waterproof",
    "kids",
    "award winner",
    "refurbished",
)

ROLES = (
    ("Store Manager", 62_000), ("Mechanic", 41_000), ("Sales Assistant", 34_000), ("Senior Mechanic", 49_000),
    ("Buyer", 52_000),
)  # fmt: skip

COMMENTS = (
    "Does what it should.", "Better than I expected.", "Rattles a bit.", "Would buy again.",
    "Arrived late, works well.", "Too heavy for me.", "Lovely colour.", "Broke after a month.", "Great value.",
    "The manual is hard to follow.",
)  # fmt: skip

BICYCLES = ("city bike", "road bike", "mountain bike", "e-bike", "cargo bike", "folding bike", "tandem", "child's bike")
