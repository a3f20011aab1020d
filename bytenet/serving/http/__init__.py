"""The HTTP interface of the server. It has the addresses, parameters and answers of LibreTranslate."""
